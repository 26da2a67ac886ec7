package unlearn

import "context"

// NegGrad descends on the retain set while it ascends on the forget set (RULER section 4.2;
// NegGrad+ of Kurmanji et al. 2023):
//
//	minimise alpha L(Dr) - (1 - alpha) L(Df)
//
// with L the original's objective, the cross-entropy of a classifier, for 10 epochs of Adam
// at 5e-4 with alpha = 0.6. With mini-batches every batch of the retain set is joined by
// the whole forget set, as in the published program.
type NegGrad struct {
	Epochs int      `json:"epochs,omitempty" default:"10"`
	LR     float64  `json:"lr,omitempty" default:"5e-4"`
	Alpha  *float64 `json:"alpha,omitempty" default:"0.6"` // weight of the retain set; new(0.0): the forget set alone
	// Batched takes a mini-batch of the forget set with each of the retain set, starting over when
	// it runs out. The whole forget set is too much where it has thousands of records.
	Batched bool `json:"batched,omitempty"`
	// WeightDecay makes the optimiser AdamW with this decay, as in RULER's experiment on texts; 0:
	// Adam.
	WeightDecay float64 `json:"weight_decay,omitempty"`
}

// Info implements Method.
func (NegGrad) Info() Info {
	return Info{
		Name: "neggrad", Sees: Sees{Original: true, Forget: true, Retain: true}, General: true,
		Does: "lowers the loss of the retain set and raises that of the forget set, in one step",
		From: "NegGrad+ of Kurmanji et al. 2023, in the setting of RULER",
	}
}

// Unlearn implements Method.
func (m NegGrad) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	down, err := r.objective("retain", r.Retain, false, *m.Alpha)
	if err != nil {
		return nil, err
	}
	up, err := r.objective("forget", r.Forget, !m.Batched, *m.Alpha-1)
	if err != nil {
		return nil, err
	}
	return r.minimiseBy(ctx, adam(m.LR, m.WeightDecay), append(down, up...), m.Epochs)
}
