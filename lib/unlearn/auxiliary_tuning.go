// Control: training on auxiliary records alone.

package unlearn

import (
	"cmp"
	"context"

	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// AuxiliaryTuning is the control of methods with auxiliary records, BlindU above all: it
// goes on training with the original's objective on the auxiliary records alone, with
// BlindU's batches and number of epochs. It uses only the size of the forget set. What it
// forgets is forgotten without unlearning.
type AuxiliaryTuning struct {
	Auxiliary Auxiliary `json:"auxiliary,omitempty"` // "": Public
	Epochs    int       `json:"epochs,omitempty"`    // 0: 20
	LR        float64   `json:"lr,omitempty"`        // 0: 1e-3
	Batch     int       `json:"batch,omitempty"`     // 0: 20; a request's own batch size has priority
	Clip      float64   `json:"clip,omitempty"`      // gradient norm, 0: 1, nn.Zero: no clipping
}

var (
	_ Described = AuxiliaryTuning{}
	_ General   = AuxiliaryTuning{}
)

// Name implements Method.
func (AuxiliaryTuning) Name() string { return "auxiliary-tuning" }

// About implements Described.
func (AuxiliaryTuning) About() About {
	return About{"goes on training on records that no model was trained on", "a control of BlindU"}
}

// General implements General.
func (AuxiliaryTuning) General() bool { return true }

// Sees implements Method. Of the forget set only the size is used.
func (m AuxiliaryTuning) Sees() Sees {
	s := m.withDefaults().Auxiliary.sees()
	s.Original, s.Forget = true, true
	return s
}

// WithDefaults implements Method.
func (m AuxiliaryTuning) WithDefaults() Method { return m.withDefaults() }

func (m AuxiliaryTuning) withDefaults() AuxiliaryTuning {
	m.Auxiliary, m.Epochs, m.LR = cmp.Or(m.Auxiliary, Public), cmp.Or(m.Epochs, 20), cmp.Or(m.LR, 1e-3)
	m.Batch, m.Clip = cmp.Or(m.Batch, 20), cmp.Or(m.Clip, 1)
	return m
}

// Unlearn implements Method.
func (m AuxiliaryTuning) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	d, err := m.Auxiliary.records(ctx, r)
	if err != nil {
		return nil, err
	}
	o, err := r.objective("auxiliary", d, false, 1)
	if err != nil {
		return nil, err
	}
	c := train.Config{Epochs: m.Epochs, Batch: cmp.Or(r.Batch, m.Batch), Optimizer: nn.Adam{LR: m.LR}, Seed: r.Seed}
	if m.Clip != nn.Zero {
		c.Clip = m.Clip
	}
	p, history, err := train.Fit(ctx, r.Runner, r.Original, o, c, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &Outcome{Params: p, History: history}, nil
}
