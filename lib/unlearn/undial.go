// UNDIAL: self-distillation with adjusted scores.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// UNDIAL is self-distillation with adjusted scores (Dong et al. 2025, section 3): the model learns
// the original's probabilities of a forgotten answer's tokens, but with the score of the token that
// stands there lowered by Strength. In TextFit, with R the original's objective, F is the mean over
// the forget set and an answer's tokens of
//
//	KL(softmax(z_0 - Strength [v = y]) || softmax(z))
//
// with the original's scores z_0. Its target is bounded: a model that has reached it stops.
//
// Differences: (1) the divergence, where the paper and the program print the cross-entropy, of the
// same gradient; (2) the mean over answers' tokens, where the program takes that over all tokens of
// a padded batch, and lowers a score of the vocabulary's end at padding and questions; the others
// are those of TextFit.
type UNDIAL struct {
	Strength    float64  `json:"strength,omitempty" default:"10"`
	Epochs      int      `json:"epochs,omitempty" default:"10"`
	LR          float64  `json:"lr,omitempty" default:"1e-4"`
	WeightDecay *float64 `json:"weight_decay,omitempty" default:"0.01"` // new(0.0): none
	Retain      float64  `json:"retain,omitempty"`                      // weight of R; 0: the forget set alone, as in the paper
}

// Info implements Method.
func (UNDIAL) Info() Info {
	return Info{
		Name: "undial", Sees: Sees{Original: true, Forget: true, Retain: true}, NextToken: true,
		Does: "learns its own former probabilities of forgotten texts, with those of the true tokens lowered",
		From: "Dong et al. 2025",
	}
}

// AtRate implements Rated.
func (m UNDIAL) AtRate(lr float64) UNDIAL {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m UNDIAL) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	lowered := func(_ Request, n text.NextTokenModel, d Data) (train.Target, error) {
		in, err := n.NextInputs(d.X)
		return train.Target{Loss: loss.NextDistillation{Vocabulary: n.Loss().Vocabulary, Penalty: m.Strength}, Inputs: in, Weight: 1}, err
	}
	fit := TextFit{Epochs: m.Epochs, LR: m.LR, WeightDecay: m.WeightDecay, Forget: 1, Retain: &m.Retain}
	return fit.run(ctx, r, lowered, nil, true)
}
