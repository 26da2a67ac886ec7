package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/train"
)

// L1Sparsity fine-tunes on the retain set with an L1 penalty on the weights (Jia et al.
// 2023, section 4, "l1-sparse"; in SDE's Table 4 as Sparsity):
//
//	minimise L(Dr) + gamma (1 - e/E) ||w||_1  in epoch e = 0, 1, ... of E
//
// with L the original's objective, over all weights, biases and gains: Descent's settings,
// 10 epochs at 0.01. It never sees a forget record. The derivative of |w| at 0 is 0, and a
// gradient step jumps over 0 rather than onto it: weights become small, not exactly 0.
//
// Difference: gamma = 5e-4 is what is reported for that paper's experiments. The published
// program's own default, 0.2, belongs to another method, and SDE names none.
type L1Sparsity struct {
	Epochs int      `json:"epochs,omitempty" default:"10"`
	LR     float64  `json:"lr,omitempty" default:"0.01"`
	Gamma  *float64 `json:"gamma,omitempty" default:"5e-4"` // new(0.0): none
	Descent
}

// Info implements Method.
func (L1Sparsity) Info() Info {
	return Info{
		Name: "l1-sparsity", Sees: Sees{Original: true, Retain: true}, General: true,
		Does: "goes on training on the retain set with an L1 penalty on the weights",
		From: "Jia et al. 2023; in SDE",
	}
}

// Unlearn implements Method.
func (m L1Sparsity) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	o, err := r.objective("retain", r.Retain, false, 1)
	if err != nil {
		return nil, err
	}
	plan := train.Plan{Transforms: train.Chain{train.L1{Weight: *m.Gamma, Falling: true}}}
	return r.descend(ctx, m.Descent, m.Epochs, m.LR, singlePass(o), plan)
}
