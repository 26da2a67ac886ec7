// Unrolling in SDE's form.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// Unroll adds back what the forget records took (Thudi et al. 2022, "single gradient
// unlearning"; in SDE's Table 4). To first order around weights w_0 of the training, each
// of the m epochs after w_0 moved the model by -(lr/b) times the sum of the forget records'
// gradients at w_0, so
//
//	w_u = w_t + m (lr/b) sum over Df of grad CE(w_0; x, y)
//
// with lr = 0.01 and b = 32, that program's. It takes one gradient, no training and no
// random numbers. Dropout is off and normalisation uses w_0's running statistics; the
// result keeps those of w_t.
//
// This is SDE's form, as far as SDE describes it; UnrollThudi is that of Thudi et al.
//
// Differences: (1) SDE gives neither w_0 nor lr, b and m; here w_0 is Request.Earlier, the
// start of the original's last epoch, from which m = 1 follows. Times sets m: the number of
// all epochs is the other extreme of what the paper's text allows. (2) Thudi et al. record
// the gradient of the batch in training, with its dropout. (3) Their standard-deviation
// loss, which must be part of the original's training, is left out.
//
// An original that was trained by something other than plain gradient descent moved
// differently; the report's displacement says how far this method moved it.
type Unroll struct {
	LR    float64 `json:"lr,omitempty" default:"0.01"`
	Batch int     `json:"batch,omitempty" default:"32"` // b; a request's own batch size has priority
	Times int     `json:"times,omitempty"`              // m, 0: the epochs from Request.Earlier to the end of training
}

// Info implements Method.
func (Unroll) Info() Info {
	return Info{
		Name: "unroll", Sees: Sees{Original: true, Forget: true, Earlier: true}, General: true,
		Does: "adds back the forget set's gradient at the weights before the last epoch",
		From: "Thudi et al. 2022, in SDE's form",
	}
}

// Unlearn implements Method.
func (m Unroll) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	lr, b := m.LR, cmp.Or(r.Batch, m.Batch)
	times := cmp.Or(m.Times, r.Fit.WithDefaults().Epochs-r.Earlier.Epoch)
	if !(lr > 0) || math.IsInf(lr, 1) || b < 1 || times < 1 {
		return nil, fmt.Errorf("learning rate %v, batch %d, %d times: all must be positive", lr, b, times)
	}
	return r.addGradients(ctx, r.Earlier.Params, float64(times)*lr/float64(b))
}

// addGradients adds to the original's weights a rate times the sum of the forget records'
// gradients at the weights at.
func (r Request) addGradients(ctx context.Context, at nn.Params, rate float64) (*Outcome, error) {
	r.Augment = nil
	o, err := r.objective("forget", r.Forget, false, 1)
	if err != nil {
		return nil, err
	}
	mean, err := train.Gradient(ctx, r.Runner, at, o, 0, train.Mode{})
	if err != nil {
		return nil, err
	}
	step := rate * float64(r.Forget.X.Rows)
	p := r.Original.Clone()
	for i, g := range mean {
		for j, v := range g {
			p[i].Data[j] = float32(float64(p[i].Data[j]) + float64(step*v))
		}
	}
	return &Outcome{Params: p}, nil
}
