// Selective synaptic dampening as published.

package unlearn

import (
	"context"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/train"
)

// SSDFoster is selective synaptic dampening as published by Foster et al. (2024, "Fast
// Machine Unlearning Without Retraining Through Selective Synaptic Dampening", equations 5
// to 7). With the diagonal Fisher information of the forget set and of all records, at the
// original,
//
//	F = mean over the records of (grad L(x))^2
//
// every weight with F_f > Alpha F_all is multiplied by min(Lambda F_all/F_f, 1). Nothing is
// trained, and a weight that does not affect the loss stays.
//
// Differences from the published program: (1) gradients are per record; the program squares
// the gradient of a batch's mean, which is smaller the larger the batch. (2) Nothing is
// drawn while it is taken. It refuses a network with batch normalisation.
type SSDFoster struct {
	Alpha  float64 `json:"alpha,omitempty" default:"10"`
	Lambda float64 `json:"lambda,omitempty" default:"1"`
}

// Info implements Method.
func (SSDFoster) Info() Info {
	return Info{
		Name: "ssd-foster", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true,
		Does: "dampens the weights that matter to the forget set far more than to all records",
		From: "Foster et al. 2024, as published",
	}
}

// Unlearn implements Method.
func (m SSDFoster) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	if !(m.Alpha > 0 && m.Lambda > 0) || math.IsInf(m.Alpha, 1) || math.IsInf(m.Lambda, 1) {
		return nil, fmt.Errorf("alpha %v and lambda %v; both must be positive numbers", m.Alpha, m.Lambda)
	}
	if model.HasBatchStats(r.Runner.Arch) {
		return nil, fmt.Errorf("%s mixes the records of a batch: there are no per-record gradients", r.Runner.Arch.Name())
	}
	forget, err := r.squaredGradients(ctx, "forget", r.Forget)
	if err != nil {
		return nil, err
	}
	retain, err := r.squaredGradients(ctx, "retain", r.Retain)
	if err != nil {
		return nil, err
	}
	share := float64(r.Forget.X.Rows) / float64(r.Forget.X.Rows+r.Retain.X.Rows)
	p, selected := r.Original.Clone(), 0
	for i, f := range forget {
		for j, v := range f {
			all := float64(share*v) + float64((1-share)*retain[i][j])
			if v > m.Alpha*all {
				p[i].Data[j] = float32(float64(p[i].Data[j]) * math.Min(m.Lambda*all/v, 1))
				selected++
			}
		}
	}
	return &Outcome{Params: p, Note: fmt.Sprintf("%d of %d weights dampened", selected, p.Size())}, nil
}

// squaredGradients returns the mean over records of their squared gradients at the
// original.
func (r Request) squaredGradients(ctx context.Context, name string, d Data) ([][]float64, error) {
	r.Augment = nil
	o, err := r.objective(name, d, false, 1)
	if err != nil {
		return nil, err
	}
	return train.SquaredGradients(ctx, r.Runner, r.Original, o, train.Mode{})
}
