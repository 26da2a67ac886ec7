// Plans: trainings with several objectives, or with changes to the gradient of a step.

package train

import (
	"context"
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
)

// Plan describes a training with more than one objective. It has either Passes or a Game;
// the other fields change the steps.
type Plan struct {
	// Passes returns the objectives of an epoch (0, 1, ...), which are swept one after
	// another with one optimiser. It must be a pure function of the epoch, so that a
	// resumed fit has the same bits. New records may be in the memory of those before.
	Passes func(epoch int) ([]Objective, error)
	// Game is a training by several players.
	Game *Game
	// Private makes the training differentially private; nil: it is not.
	Private *Private
	// Combiner weights the terms of an objective by their gradients; nil: weights 1.
	Combiner GradientCombiner
	// Transforms change the gradient before the optimiser sees it; see Chain for the order.
	Transforms Chain
	// Watch is called before every step and may end the epoch; nil: none.
	Watch Watch
	// Validation evaluates the model after every epoch; nil: none.
	Validation *Validation

	changes bool // whether passes may have different objectives
}

// FitPlan is Fit for a plan. Pass 0 of every epoch draws its batches as Fit does, the
// others have random streams of their own. The loss of an epoch is the mean over the steps
// of all passes, with the L1 term.
func FitPlan(ctx context.Context, r *model.Runner, p nn.Params, plan Plan, c Config, h Hooks) (nn.Params, []Epoch, error) {
	if err := checkRunner(r); err != nil {
		return nil, nil, err
	}
	if err := plan.check(r.Arch, p); err != nil {
		return nil, nil, err
	}
	if plan.Passes != nil {
		plan = plan.checked(r.Arch)
		plan.changes = true
	}
	return fit(ctx, r, p, plan, c, h)
}

// chain returns all transforms of a training.
func (p Plan) chain(c Config) (out Chain) {
	if p.Private != nil {
		out = append(out, privateStep{*p.Private})
	}
	out = append(out, p.Transforms...)
	if c.Clip != 0 {
		out = append(out, ClipNorm{Max: c.Clip})
	}
	return out
}

func (p Plan) check(a model.Architecture, like nn.Params) error {
	if (p.Passes == nil) == (p.Game == nil) {
		return errors.New("train: a plan needs either passes or a game")
	}
	if err := p.Transforms.check(like); err != nil {
		return err
	}
	if err := p.checkWatch(); err != nil {
		return err
	}
	if err := p.Validation.check(a); err != nil {
		return err
	}
	return p.Game.check(a)
}

// fixedPlan returns the plan that trains on one objective.
func fixedPlan(o Objective) Plan {
	return Plan{Passes: func(int) ([]Objective, error) { return []Objective{o}, nil }}
}

// paramGroups returns one parameter group for each player of the game, or one with all
// weights.
func (p Plan) paramGroups(like nn.Params, c Config) ([]paramGroup, error) {
	rates, err := nn.Rates(like, c.Groups)
	if err != nil {
		return nil, err
	}
	if p.Game == nil {
		return []paramGroup{{optimizer: c.Optimizer, rates: rates}}, nil
	}
	return p.Game.paramGroups(like, c, rates)
}

// steps returns the steps of an epoch: those of the game, or those of the passes in order.
func (p Plan) steps(c Config, epoch int) ([]trainStep, error) {
	if p.Game != nil {
		return p.Game.steps(c, epoch), nil
	}
	passes, err := p.Passes(epoch)
	if err != nil {
		return nil, fmt.Errorf("train: epoch %d: %w", epoch+1, err)
	}
	if len(passes) == 0 {
		return nil, fmt.Errorf("train: epoch %d has no passes", epoch+1)
	}
	var out []trainStep
	for k, o := range passes {
		if c.Order == ShuffledSingle && len(o) > 1 {
			return nil, fmt.Errorf("train: epoch %d: the order ShuffledSingle needs objectives of one term, this one has %d", epoch+1, len(o))
		}
		drawn := c
		if k > 0 {
			drawn.Seed = engine.Root(c.Seed.Counter(engine.StreamPass, uint64(k)))
		}
		steps, err := p.batches(drawn, o, epoch)
		if err != nil {
			return nil, err
		}
		for i, batches := range steps {
			t := update{objective: o, batches: batches, newObjective: i == 0, seed: c.Seed, rate: 1 / float64(len(steps))}
			out = append(out, trainStep{updates: []update{t}})
		}
	}
	return out, nil
}

// batches returns the batches of every step of an epoch.
func (p Plan) batches(c Config, o Objective, epoch int) ([][]batch, error) {
	if p.Private != nil {
		return p.Private.sample(c, o, epoch)
	}
	return c.epochBatches(o, epoch), nil
}

// checked returns the plan with a check of the objectives of every pass.
func (p Plan) checked(a model.Architecture) Plan {
	inner := p.Passes
	p.Passes = func(epoch int) ([]Objective, error) {
		passes, err := inner(epoch)
		if err != nil {
			return nil, err
		}
		for k, o := range passes {
			if err := o.check(a); err != nil {
				return nil, fmt.Errorf("pass %d: %w", k+1, err)
			}
		}
		return passes, nil
	}
	return p
}
