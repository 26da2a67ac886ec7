// Training of critics: Adam on the mean cross-entropies of all members and of
// newly drawn non-members.

package learned

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// CriticTraining trains a Network with Adam. Each step uses all members and Batch newly drawn
// non-members, and minimises the mean of the two binary cross-entropies:
//
//	1/2 mean over members of log(1 + exp(-z)) + 1/2 mean over the others of log(1 + exp(z))
//
// "Fishing for Privacy" trains the critics of its adversarial methods in this way, and the attacker
// that decides when its extra-gradient method stops.
type CriticTraining struct {
	Steps int
	Batch int // non-members, at most all
	LR    float64
	Decay float64 // L2, added to the gradient
}

// Fit returns the weights after the last step. All random numbers come from the seed.
func (d CriticTraining) Fit(ctx context.Context, r *model.Runner, known Records, seed engine.Root) (nn.Params, error) {
	if err := known.Check(); err != nil {
		return nil, err
	}
	if d.Steps < 1 || d.Batch < 1 {
		return nil, fmt.Errorf("learned: %d steps on batches of %d", d.Steps, d.Batch)
	}
	o := train.Objective{constantTerm("members", known.Members, 1, 0.5), constantTerm("others", known.Nonmembers, 0, 0.5)}
	o[0].Whole = true
	plan := train.Plan{Game: &train.Game{Steps: 1, Players: []train.Player{{Name: "attacker", Objective: o}}}}
	if d.Decay != 0 {
		plan.Transforms = train.Chain{train.Decay{Rate: d.Decay}}
	}
	c := train.Config{Epochs: d.Steps, Batch: d.Batch, Optimizer: nn.Adam{LR: d.LR}, Seed: seed}
	p, _, err := train.FitPlan(ctx, r, model.InitialWeights(r.Arch, seed.Stream(engine.StreamInit)), plan, c, train.Hooks{})
	if err != nil {
		return nil, fmt.Errorf("learned: %w", err)
	}
	return p, nil
}

// constantTerm is the objective's term of records that all have the same target.
func constantTerm(name string, x array.Matrix[float64], answer float32, weight float64) train.Term {
	return train.Term{Name: name, X: array.Convert[float32](x), Targets: []train.Target{{
		Loss: loss.BinaryCrossEntropy{}, Inputs: map[string]array.Matrix[float32]{loss.Probabilities: ConstantTargets(x.Rows, 1, answer)}, Weight: weight,
	}}}
}

// ConstantTargets returns a records x questions matrix of one target.
func ConstantTargets(records, questions int, answer float32) array.Matrix[float32] {
	m := array.New[float32](records, questions)
	for i := range m.Data {
		m.Data[i] = answer
	}
	return m
}
