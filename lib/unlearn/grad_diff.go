// GradDiff: ascent on forgotten texts, training on retained ones.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/train"
)

// GradDiff makes a language model's answers of the forget set improbable while it trains on the
// retain set (gradient difference, Liu et al. 2022; a baseline of TOFU, Maini et al. 2024, section
// 4.1). In TextFit F is
//
//	-L(Df)
//
// with L the mean over an answer's tokens of -log p. With KL it is TOFU's KL minimisation. The
// ascent is unbounded.
//
// Differences: those of TextFit.
type GradDiff struct{ TextFit }

// Info implements Method.
func (GradDiff) Info() Info {
	return Info{
		Name: "grad-diff", Sees: Sees{Original: true, Forget: true, Retain: true}, NextToken: true,
		Does: "raises the loss of forgotten texts while it trains on retained ones",
		From: "Liu et al. 2022, in the setting of TOFU",
	}
}

// SetDefaults implements defaults.Setter.
func (m *GradDiff) SetDefaults() { m.setDefaults(10, 1) }

// AtRate implements Rated.
func (m GradDiff) AtRate(lr float64) GradDiff {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m GradDiff) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	ascend := func(_ Request, m text.NextTokenModel, d Data) (train.Target, error) {
		in, err := m.NextInputs(d.X)
		return train.Target{Loss: m.Loss(), Inputs: in, Weight: -1}, err
	}
	return m.run(ctx, r, ascend, nil, false)
}
