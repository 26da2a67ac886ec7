package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Plan is a training that an objective alone does not describe.
type Plan struct {
	// Passes returns what the epoch (0, 1, ...) trains on: objectives that are
	// swept one after another, with one optimiser that runs through all epochs. It
	// must be a function of the epoch alone, so that a stopped fit goes on with
	// the same bits.
	Passes func(epoch int) ([]Objective, error)
	// L1 and Mask change the steps; nil: not.
	L1   *L1
	Mask *Mask

	changes bool // whether the objectives may differ from pass to pass
}

// FitPlan is Fit for a plan. Pass 0 of every epoch draws its batches as Fit does
// and the others from streams of their own; an epoch's loss is the mean over the
// steps of all its passes, with the L1 term.
func FitPlan(ctx context.Context, r *model.Runner, p nn.Params, plan Plan, c Config, h Hooks) (nn.Params, []Epoch, error) {
	if plan.Passes == nil {
		return nil, nil, errors.New("train: the plan has no passes")
	}
	if err := plan.L1.check(); err != nil {
		return nil, nil, err
	}
	if err := plan.Mask.check(p); err != nil {
		return nil, nil, err
	}
	plan = plan.checked(r.Arch.Inputs(), r.Arch.Classes())
	plan.changes = true
	return fit(ctx, r, p, plan, c, h)
}

// always is the plan that trains on one objective, which has been checked.
func always(o Objective) Plan {
	return Plan{Passes: func(int) ([]Objective, error) { return []Objective{o}, nil }}
}

// sweep is one step of an epoch: batches of an objective.
type sweep struct {
	objective Objective
	batches   []batch
	first     bool // of its pass
}

// sweeps lists the steps of an epoch, pass after pass.
func (p Plan) sweeps(c Config, epoch int) ([]sweep, error) {
	passes, err := p.Passes(epoch)
	if err != nil {
		return nil, fmt.Errorf("train: epoch %d: %w", epoch+1, err)
	}
	if len(passes) == 0 {
		return nil, fmt.Errorf("train: epoch %d has no passes", epoch+1)
	}
	var out []sweep
	for k, o := range passes {
		c := c
		if k > 0 {
			c.Seed = engine.Root(c.Seed.Counter(engine.StreamPass, uint64(k)))
		}
		for i, batches := range c.epoch(o, epoch) {
			out = append(out, sweep{o, batches, i == 0})
		}
	}
	return out, nil
}

// checked reports a bad objective of any pass, once per epoch.
func (p Plan) checked(features, classes int) Plan {
	inner := p.Passes
	p.Passes = func(epoch int) ([]Objective, error) {
		passes, err := inner(epoch)
		if err != nil {
			return nil, err
		}
		for k, o := range passes {
			if err := o.check(features, classes); err != nil {
				return nil, fmt.Errorf("pass %d: %w", k+1, err)
			}
		}
		return passes, nil
	}
	return p
}
