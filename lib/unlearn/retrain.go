package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
)

// Retrain is the oracle: a fresh model trained on the retain set alone, exactly
// as the original was. It is shown neither the original's weights nor a forget
// record. The zero value starts from the original's own seed, and so from the
// same initial weights (the paired design of RULER section 3.3).
//
// With SeedShift it is the control "retrain with another seed", [SecondOracle]: an
// equally perfect unlearner whose representation differs by chance of training
// alone.
type Retrain struct {
	SeedShift int `json:"seed_shift,omitempty"` // added to the original's seed
}

var _ Described = Retrain{}

// SecondOracle is retraining with another seed, as every table has it. Its seeds
// are farther away than any study's go: with a study's own seeds the second
// oracles would be the first in another order, and means over them the same
// numbers again.
var SecondOracle = Retrain{SeedShift: 10_000}

// Name implements Method.
func (m Retrain) Name() string {
	if m.SeedShift != 0 {
		return "retrain-other-seed"
	}
	return "retrain"
}

// About implements Described.
func (m Retrain) About() About {
	if m.SeedShift != 0 {
		return About{"trains anew on the retain set from another seed: what chance alone changes", "control"}
	}
	return About{"trains anew on the retain set from the original's seed: the oracle", "control"}
}

// General implements General.
func (Retrain) General() bool { return true }

// Sees implements Method.
func (Retrain) Sees() Sees { return Sees{Retain: true} }

// WithDefaults implements Method.
func (m Retrain) WithDefaults() Method { return m }

// Unlearn implements Method.
func (m Retrain) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	fit := r.Fit
	fit.Seed += engine.Root(m.SeedShift)
	o, err := r.objective("retain", r.Retain, false, 1)
	if err != nil {
		return nil, err
	}
	fresh := r.Runner.Arch.Init(fit.Seed.Stream(engine.StreamInit))
	p, history, err := train.Fit(ctx, r.Runner, fresh, o, fit, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history}, nil
}
