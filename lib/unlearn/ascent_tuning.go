// Gradient ascent of "Fishing for Privacy".

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// AscentTuning is the gradient ascent of "Fishing for Privacy" (section 4.2, appendix B):
//
//	first ascend L(Df), then descend L(Dr)
//
// with L the objective of the original: 10 steps of gradient descent at 1e-5 on -L(Df),
// each gradient clipped to norm 1, then RetainTuning for at most 30 epochs.
//
// As coded the ascent does almost nothing: 10 steps of at most 1e-5 move the weights by at
// most 1e-4 in total, so that the method is its second stage. The report's note has the
// distance of the first stage. For a real ascent use a larger rate without clipping, such
// as AscentTuning{LR: 1e-4, Clip: new(0.0)}.
//
// Difference from the published program: a step is on all forget records; the program's
// batches have 32 (it has 30 records to forget).
type AscentTuning struct {
	Steps   int          `json:"steps,omitempty" default:"10"` // of the ascent
	LR      float64      `json:"lr,omitempty" default:"1e-5"`  // of the ascent
	Clip    *float64     `json:"clip,omitempty" default:"1"`   // gradient norm in the ascent; new(0.0): no clipping
	Tune    RetainTuning `json:"tune,omitzero"`                // 0 epochs: 30
	Untuned bool         `json:"untuned,omitempty"`
}

// Info implements Method.
func (m AscentTuning) Info() Info {
	return Info{
		Name: "ascent-tuning", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true, Version: tunedVersion(m.Untuned),
		Does: "raises the loss of the forget set a little, then goes on training on the retain set",
		From: "Fishing for Privacy, as coded",
	}
}

// SetDefaults implements defaults.Setter.
func (m *AscentTuning) SetDefaults() {
	m.Tune.Epochs = cmp.Or(m.Tune.Epochs, 30)
}

// Unlearn implements Method.
func (m AscentTuning) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	o, err := r.objective("forget", r.Forget, false, -1)
	if err != nil {
		return nil, err
	}
	plan := train.Plan{Passes: singlePass(o)}
	if *m.Clip != 0 {
		plan.Transforms = train.Chain{train.ClipNorm{Max: *m.Clip}}
	}
	c := train.Config{Epochs: m.Steps, Optimizer: nn.SGD{LR: m.LR}, Seed: r.Seed}
	up, _, err := train.FitPlan(ctx, r.Runner, r.Original, plan, c, train.Hooks{})
	if err != nil {
		return nil, err
	}
	return m.Tune.tuneUnless(ctx, r, m.Untuned, up, "the ascent moved the weights by "+distanceText(up, r.Original))
}

// distanceText returns the Euclidean distance between two sets of weights.
func distanceText(p, from nn.Params) string {
	total := 0.0
	for i, v := range p {
		for j, x := range v.Data {
			if d := float64(x) - float64(from[i].Data[j]); !v.State {
				total += float64(d * d)
			}
		}
	}
	return fmt.Sprintf("%.3g", math.Sqrt(total))
}
