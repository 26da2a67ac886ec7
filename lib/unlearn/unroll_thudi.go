// Unrolling as published.

package unlearn

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// UnrollThudi is Unroll as Thudi et al. define it (2022, "Unrolling SGD", section 4). w_0
// are the weights before the last stage of the training (in their experiments the
// pre-trained ones), and the step is what the forget records moved the model by in that
// stage, to first order around w_0,
//
//	w_u = w_t + (1/b) (sum over the stage's epochs of eta_e / (1 - mu)) sum over Df of grad CE(w_0; x, y)
//
// with b, the rate eta_e of epoch e and the momentum mu those of the original's training if
// that was gradient descent in batches, and otherwise those of the published program, eta =
// 0.01, b = 32, mu = 0. It takes one gradient, no training and no random numbers.
//
// Differences: (1) originals here are trained in one stage; the last stage are the last 20
// % of the epochs, in which a cosine schedule is below a tenth of its first rate. Their
// program trains ten epochs and then, by default, one. (2) It has no momentum and no
// schedule; with momentum a gradient moves the model by 1/(1 - mu) of the step in total.
// (3) It records the gradient anew in every epoch of the stage, after that batch's first
// step; here it is one gradient at w_0 times the number of epochs. (4) Weight decay and the
// standard-deviation loss, which must be part of the training, are left out.
type UnrollThudi struct {
	Last float64 `json:"last,omitempty" default:"0.2"` // share of the epochs in the last stage
}

// Info implements Method.
func (m UnrollThudi) Info() Info {
	return Info{
		Name: "unroll-thudi", Sees: Sees{Original: true, Forget: true, Earlier: true}, General: true, Stage: defaults.Fill(m).Last,
		Does: "adds back the forget set's gradient at the weights before the last fifth of the training, at that stage's rates",
		From: "Thudi et al. 2022, as published",
	}
}

// Unlearn implements Method.
func (m UnrollThudi) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !(m.Last > 0 && m.Last <= 1) {
		return nil, fmt.Errorf("a last stage of a share of %v of the epochs; it must be above 0 and at most 1", m.Last)
	}
	return r.addGradients(ctx, r.Earlier.Params, stageRate(r.Fit.WithDefaults(), r.Earlier.Epoch))
}

// stageRate returns the rate over batch size, summed over the epochs of a training starting
// at from.
func stageRate(fit train.Config, from int) float64 {
	sgd, plain := fit.Optimizer.(nn.SGD)
	if !plain || fit.Batch == 0 {
		return float64(fit.Epochs-from) * 0.01 / 32
	}
	total := 0.0
	for e := from; e < fit.Epochs; e++ {
		total += sgd.LR * fit.Schedule.Factor(e, fit.Epochs) / (1 - sgd.Momentum)
	}
	return total / float64(fit.Batch)
}
