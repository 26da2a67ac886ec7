// TaskVector: what training on the forget set adds is subtracted.

package unlearn

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/nn"
)

// TaskVector subtracts what training on the forget set adds (Ilharco et al. 2023, section 3): the
// original w is trained on the forget set alone, to w', and the result is
//
//	w - Scale (w' - w)
//
// by Epochs of AdamW on the original's objective. It sees the forget set only.
//
// Differences: (1) the paper chooses Scale on held-out records; here it is a setting, 1. (2) Running
// means of a normalisation stay the original's.
type TaskVector struct {
	Epochs      int      `json:"epochs,omitempty" default:"5"`
	LR          float64  `json:"lr,omitempty" default:"1e-5"`
	WeightDecay *float64 `json:"weight_decay,omitempty" default:"0.01"` // new(0.0): none
	Scale       float64  `json:"scale,omitempty" default:"1"`
}

// Info implements Method.
func (TaskVector) Info() Info {
	return Info{
		Name: "task-vector", Sees: Sees{Original: true, Forget: true}, General: true,
		Does: "subtracts the change of weights that training on the forget set makes",
		From: "Ilharco et al. 2023",
	}
}

// AtRate implements Rated.
func (m TaskVector) AtRate(lr float64) TaskVector {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m TaskVector) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	o, err := r.objective("forget", r.Forget, false, 1)
	if err != nil {
		return nil, err
	}
	out, err := r.minimiseBy(ctx, nn.AdamW{LR: m.LR, WeightDecay: *m.WeightDecay}, o, m.Epochs)
	if err != nil {
		return nil, err
	}
	after := r.Original.Clone()
	for i, v := range out.Params {
		if v.State {
			continue
		}
		if len(v.Data) != len(after[i].Data) {
			return nil, fmt.Errorf("%s has %d numbers after training, %d before", v.Name, len(v.Data), len(after[i].Data))
		}
		for k, x := range v.Data {
			w := after[i].Data[k]
			after[i].Data[k] = w - float32(m.Scale*(float64(x)-float64(w)))
		}
	}
	out.Params = after
	return out, nil
}
