// The optimiser of SDE's methods.

package unlearn

import (
	"cmp"
	"context"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Descent is the optimiser of the methods in SDE's tables. SDE names none, so the settings
// are those of the published programs of Jia et al. 2023 and Fan et al. 2024: stochastic
// gradient descent with momentum 0.9 and weight decay 5e-4 on batches of 256 at a constant
// rate (their milestones, epochs 91 and 136, are after the 10 epochs). The last batch of an
// epoch is kept whatever its size, as in those programs; batch normalisation then uses the
// statistics of that batch.
type Descent struct {
	Momentum    *float64 `json:"momentum,omitempty" default:"0.9"`      // new(0.0): none
	WeightDecay *float64 `json:"weight_decay,omitempty" default:"5e-4"` // new(0.0): none
	Batch       int      `json:"batch,omitempty" default:"256"`         // a request's own batch size has priority
}

func (d *Descent) sgd(lr float64) nn.SGD {
	return nn.SGD{LR: lr, Momentum: *d.Momentum, WeightDecay: *d.WeightDecay}
}

// batch returns the effective batch size.
func (d *Descent) batch(r Request) int { return cmp.Or(r.Batch, d.Batch) }

// singlePass returns the passes of a plan that goes over one objective in every epoch.
func singlePass(o train.Objective) func(epoch int) ([]train.Objective, error) {
	return func(int) ([]train.Objective, error) { return []train.Objective{o}, nil }
}

// descend minimises the passes of every epoch from the original weights, with the other
// options of a plan.
func (r Request) descend(ctx context.Context, d Descent, epochs int, lr float64, passes func(epoch int) ([]train.Objective, error),
	plan train.Plan) (*Outcome, error) {
	first, err := passes(0)
	if err != nil {
		return nil, err
	}
	plan.Passes = passes
	c := train.Config{Batch: d.batch(r), Optimizer: d.sgd(lr), Seed: r.Seed}
	c.Epochs = r.stepScale.epochs(epochs, c, first...)
	p, history, err := train.FitPlan(ctx, r.Runner, r.Original, plan, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history}, nil
}
