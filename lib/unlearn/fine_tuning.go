package unlearn

import (
	"cmp"
	"context"
)

// FineTuning goes on training on the retain set alone and relies on catastrophic forgetting
// (RULER section 4.2):
//
//	minimise L(Dr)
//
// with L the original's objective, the cross-entropy of a classifier, for 10 epochs of Adam
// at 5e-4. It never sees a forget record. With another method's number of epochs it is that
// method's matched control: it shows how much of the change comes from training longer.
//
// With SGD it is the fine-tuning of Jia et al. 2023 and Fan et al. 2024, the baseline of
// SDE's methods in those papers: Descent's settings, 10 epochs at 0.01.
type FineTuning struct {
	Epochs int      `json:"epochs,omitempty" default:"10"`
	LR     float64  `json:"lr,omitempty"`  // 5e-4, with SGD 0.01
	SGD    *Descent `json:"sgd,omitempty"` // replaces Adam unless nil
	// WeightDecay makes the optimiser AdamW with this decay, as in RULER's experiment on texts; 0:
	// Adam.
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

// Info implements Method.
func (FineTuning) Info() Info {
	return Info{
		Name: "fine-tuning", Sees: Sees{Original: true, Retain: true}, General: true,
		Does: "goes on training on the retain set and relies on catastrophic forgetting",
		From: "Golatkar et al. 2020, in the setting of RULER",
	}
}

// SetDefaults implements defaults.Setter.
func (m *FineTuning) SetDefaults() {
	if m.SGD != nil {
		m.LR = cmp.Or(m.LR, 0.01)
	}
	m.LR = cmp.Or(m.LR, 5e-4)
}

// AtRate implements Rated.
func (m FineTuning) AtRate(lr float64) FineTuning {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m FineTuning) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	o, err := r.objective("retain", r.Retain, false, 1)
	if err != nil {
		return nil, err
	}
	if m.SGD == nil {
		return r.minimiseBy(ctx, adam(m.LR, m.WeightDecay), o, m.Epochs)
	}
	return r.minimise(ctx, o, m.Epochs, m.LR, m.SGD)
}
