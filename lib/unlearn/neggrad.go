package unlearn

import (
	"cmp"
	"context"
)

// NegGrad descends on the retain set while it ascends on the forget set (RULER section 4.2;
// NegGrad+ of Kurmanji et al. 2023):
//
//	minimise alpha L(Dr) - (1 - alpha) L(Df)
//
// with L the original's objective, the cross-entropy of a classifier, for 10 epochs of Adam
// at 5e-4 with alpha = 0.6. With mini-batches every batch of the retain set is joined by
// the whole forget set, as in the published program.
type NegGrad struct {
	Epochs int     `json:"epochs,omitempty"` // 0: 10
	LR     float64 `json:"lr,omitempty"`     // 0: 5e-4
	Alpha  float64 `json:"alpha,omitempty"`  // weight of the retain set, 0: 0.6
	// Batched takes a mini-batch of the forget set with each of the retain set, starting over when
	// it runs out. The whole forget set is too much where it has thousands of records.
	Batched bool `json:"batched,omitempty"`
	// WeightDecay makes the optimiser AdamW with this decay, as in RULER's experiment on texts; 0:
	// Adam.
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

var _ Described = NegGrad{}

// Name implements Method.
func (NegGrad) Name() string { return "neggrad" }

// About implements Described.
func (NegGrad) About() About {
	return About{
		"lowers the loss of the retain set and raises that of the forget set, in one step",
		"NegGrad+ of Kurmanji et al. 2023, in the setting of RULER",
	}
}

// General implements General.
func (NegGrad) General() bool { return true }

// Sees implements Method.
func (NegGrad) Sees() Sees { return Sees{Original: true, Forget: true, Retain: true} }

// WithDefaults implements Method.
func (m NegGrad) WithDefaults() Method { return m.withDefaults() }

func (m NegGrad) withDefaults() NegGrad {
	m.Epochs, m.LR, m.Alpha = cmp.Or(m.Epochs, 10), cmp.Or(m.LR, 5e-4), cmp.Or(m.Alpha, 0.6)
	return m
}

// Unlearn implements Method.
func (m NegGrad) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	m = m.withDefaults()
	down, err := r.objective("retain", r.Retain, false, m.Alpha)
	if err != nil {
		return nil, err
	}
	up, err := r.objective("forget", r.Forget, !m.Batched, m.Alpha-1)
	if err != nil {
		return nil, err
	}
	return r.minimiseBy(ctx, adam(m.LR, m.WeightDecay), append(down, up...), m.Epochs)
}
