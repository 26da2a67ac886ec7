// Control: training on auxiliary records alone.

package unlearn

import (
	"cmp"
	"context"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// AuxiliaryTuning is the control of methods with auxiliary records, BlindU above all: it
// goes on training with the original's objective on the auxiliary records alone, in BlindU's
// batches, for all of its epochs, of which BlindU may take fewer. It uses only the size of
// the forget set. What it forgets is forgotten without unlearning.
type AuxiliaryTuning struct {
	Auxiliary Auxiliary `json:"auxiliary,omitempty" default:"public"`
	Epochs    int       `json:"epochs,omitempty" default:"20"`
	LR        float64   `json:"lr,omitempty" default:"1e-3"`
	Batch     int       `json:"batch,omitempty" default:"20"` // a request's own batch size has priority
	Clip      *float64  `json:"clip,omitempty" default:"1"`   // gradient norm; new(0.0): no clipping
}

// Info implements Method. Of the forget set only the size is used.
func (m AuxiliaryTuning) Info() Info {
	s := defaults.Fill(m).Auxiliary.sees()
	s.Original, s.Forget = true, true
	return Info{
		Name: "auxiliary-tuning", Sees: s, General: true,
		Does: "goes on training on records that no model was trained on",
		From: "a control of BlindU",
	}
}

// Unlearn implements Method.
func (m AuxiliaryTuning) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	d, err := m.Auxiliary.records(ctx, r)
	if err != nil {
		return nil, err
	}
	o, err := r.objective("auxiliary", d, false, 1)
	if err != nil {
		return nil, err
	}
	c := train.Config{Epochs: m.Epochs, Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Clip: *m.Clip, Seed: r.Seed}
	p, history, err := train.Fit(ctx, r.Runner, r.Original, o, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history}, nil
}
