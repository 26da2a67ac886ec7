// Retraining from scratch on the retain set.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/train"
)

// Retrain is the retrained model, the ideal of unlearning: a new model trained on the
// retain set alone, exactly as the original was. It sees neither the original's weights nor
// a forget record. The zero value uses the original's seed, and so the same initial weights
// (the paired design of RULER section 3.3).
//
// With SeedShift it is the control "retrain with another seed", [SecondOracle]: a second
// perfect unlearner, which differs by the randomness of training alone.
type Retrain struct {
	SeedShift int `json:"seed_shift,omitempty"` // added to the original's seed
}

// SecondOracle is retraining with another seed, as every table has it. The shift is larger
// than the number of seeds of any study: otherwise the second models of one seed would be
// the first models of another.
var SecondOracle = Retrain{SeedShift: 10_000}

// Info implements Method.
func (m Retrain) Info() Info {
	i := Info{
		Name: "retrain", Sees: Sees{Retain: true}, General: true,
		Does: "retrains on the retain set with the original's seed: the oracle",
		From: "control",
	}
	if m.SeedShift != 0 {
		i.Name, i.Does = "retrain-other-seed", "retrains on the retain set with another seed: the effect of chance alone"
	}
	return i
}

// Unlearn implements Method.
func (m Retrain) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	fit := r.Fit
	fit.Seed += engine.Root(m.SeedShift)
	o, err := r.objective("retain", r.Retain, false, 1)
	if err != nil {
		return nil, err
	}
	fresh := model.InitialWeights(r.Runner.Arch, fit.Seed.Stream(engine.StreamInit))
	p, history, err := train.Fit(ctx, r.Runner, fresh, o, fit, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history}, nil
}
