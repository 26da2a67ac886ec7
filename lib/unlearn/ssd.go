// Selective synaptic dampening as coded.

package unlearn

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// SSD is the selective synaptic dampening of "Fishing for Privacy" as coded (section 4.2 of
// the paper has another formula, Foster et al. a third, which is SSDFoster). With the
// squared gradients of batches b of a set,
//
//	F = 1e-5 + 1/n sum over b of (grad of the mean of L over b)^2
//
// of the forget set in one batch, f, and of the retain set in batches of 256, r, every
// weight is multiplied by
//
//	1 - Alpha q / (largest q of its tensor),   q = f/(r + 1e-10)
//
// and RetainTuning for at most 10 epochs follows. Dropout and latent variables are drawn
// while the gradients are taken.
//
// Consequences: (1) nothing is selected, and with Alpha above 1 a sign may change. (2) A
// tensor without a gradient has the same q everywhere, so that it is multiplied by 1 -
// Alpha: in the paper's network that is the dispersion head, 28 % of the weights, and most
// of the mean dampening, which the report's note gives. (3) The squared gradient of a batch
// is not a Fisher information: its size depends on the batch.
type SSD struct {
	Alpha   float64      `json:"alpha,omitempty" default:"1"`
	Damping float64      `json:"damping,omitempty" default:"1e-5"`
	Batch   int          `json:"batch,omitempty" default:"256"` // of the retain set
	Tune    RetainTuning `json:"tune,omitzero"`                 // 0 epochs: 10
	Untuned bool         `json:"untuned,omitempty"`
}

// Info implements Method.
func (m SSD) Info() Info {
	return Info{
		Name: "ssd", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true, Version: tunedVersion(m.Untuned),
		Does: "dampens every weight by the forget set's part of its squared gradient, then goes on training on the retain set",
		From: "Fishing for Privacy, as coded, after Foster et al. 2024",
	}
}

// SetDefaults implements defaults.Setter.
func (m *SSD) SetDefaults() {
	m.Tune.Epochs = cmp.Or(m.Tune.Epochs, 10)
}

// Unlearn implements Method.
func (m SSD) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if m.Batch < 1 || !(m.Damping > 0) {
		return nil, fmt.Errorf("batches of %d and a damping of %v; both must be positive", m.Batch, m.Damping)
	}
	forget, err := r.batchSquaredGradients(ctx, "forget", r.Forget, 0)
	if err != nil {
		return nil, err
	}
	retain, err := r.batchSquaredGradients(ctx, "retain", r.Retain, m.Batch)
	if err != nil {
		return nil, err
	}
	p, mean := r.Original.Clone(), 0.0
	for i, f := range forget {
		top := 0.0
		for j := range f {
			f[j] = (f[j] + m.Damping) / (retain[i][j] + m.Damping + 1e-10)
			top = math.Max(top, f[j])
		}
		for j, q := range f {
			dampening := float64(m.Alpha * (q / top))
			p[i].Data[j] = float32(float64(p[i].Data[j]) * (1 - dampening))
			mean += dampening / float64(p.Size())
		}
	}
	return m.Tune.tuneUnless(ctx, r, m.Untuned, p, fmt.Sprintf("mean dampening %.4g", mean))
}

// batchSquaredGradients returns the sum over the batches of a set of the squared gradient
// of the batch's mean loss, divided by the number of records, at the original in training
// mode.
func (r Request) batchSquaredGradients(ctx context.Context, name string, d Data, batch int) ([][]float64, error) {
	o, err := r.objective(name, d, false, 1)
	if err != nil {
		return nil, err
	}
	total := zeroGradients(r.Original)
	mode := train.Mode{Training: true, Seed: r.Seed}
	err = train.EachGradient(ctx, r.Runner, r.Original, o, batch, mode, func(grads [][]float64, _ int) {
		for i, g := range grads {
			for j, v := range g {
				total[i][j] += v * v / float64(d.X.Rows)
			}
		}
	})
	return total, err
}

// zeroGradients returns a zero for every weight, and nothing for state.
func zeroGradients(p nn.Params) [][]float64 {
	out := make([][]float64, len(p))
	for i, v := range p {
		if !v.State {
			out[i] = make([]float64, len(v.Data))
		}
	}
	return out
}
