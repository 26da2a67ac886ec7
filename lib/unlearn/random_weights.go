package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
)

// RandomWeights is the control that destroys the model: new, untrained weights. It has
// certainly forgotten, and everything else with it; a metric that cannot tell it from a
// good method measures forgetting only.
//
// Every training seed has its own random weights, which are not those that its original
// started from.
type RandomWeights struct {
	Seed int `json:"seed,omitempty"` // shifted by the original's; 0: the request's seed
}

// Info implements Method.
func (RandomWeights) Info() Info {
	return Info{
		Name: "random-weights", General: true,
		Version: 2, // it draws per training seed; version 1 drew once for all
		Does:    "returns an untrained model",
		From:    "control",
	}
}

// Unlearn implements Method.
func (m RandomWeights) Unlearn(_ context.Context, r Request) (*Outcome, error) {
	seed := r.Seed
	if m.Seed != 0 {
		seed = engine.Root(m.Seed)
	}
	fresh := seed + r.Fit.Seed
	return &Outcome{Params: model.InitialWeights(r.Runner.Arch, fresh.Stream(engine.StreamInit))}, nil
}
