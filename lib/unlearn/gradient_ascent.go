package unlearn

import (
	"cmp"
	"context"
)

// GradientAscent raises the loss of the forget set, the cross-entropy of a classifier
// (RULER section 4.2; a baseline in Golatkar et al. 2020):
//
//	minimise -L(Df)
//
// with L the original's objective, for 5 epochs of Adam at 5e-4. It sees the forget set
// only. The ascent is unbounded: more epochs or a larger rate destroy the model.
//
// With SGD it is that of the program of Fan et al. 2024: Descent's settings, 5 epochs at
// 1e-4.
type GradientAscent struct {
	Epochs int      `json:"epochs,omitempty" default:"5"`
	LR     float64  `json:"lr,omitempty"`  // 5e-4, with SGD 1e-4
	SGD    *Descent `json:"sgd,omitempty"` // replaces Adam unless nil
	// WeightDecay makes the optimiser AdamW with this decay, as in RULER's experiment on texts; 0:
	// Adam.
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

// Info implements Method.
func (GradientAscent) Info() Info {
	return Info{
		Name: "gradient-ascent", Sees: Sees{Original: true, Forget: true}, General: true,
		Does: "raises the loss of the forget set",
		From: "Golatkar et al. 2020, in the setting of RULER",
	}
}

// SetDefaults implements defaults.Setter.
func (m *GradientAscent) SetDefaults() {
	if m.SGD != nil {
		m.LR = cmp.Or(m.LR, 1e-4)
	}
	m.LR = cmp.Or(m.LR, 5e-4)
}

// AtRate implements Rated.
func (m GradientAscent) AtRate(lr float64) GradientAscent {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m GradientAscent) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	o, err := r.objective("forget", r.Forget, false, -1)
	if err != nil {
		return nil, err
	}
	if m.SGD == nil {
		return r.minimiseBy(ctx, adam(m.LR, m.WeightDecay), o, m.Epochs)
	}
	return r.minimise(ctx, o, m.Epochs, m.LR, m.SGD)
}
