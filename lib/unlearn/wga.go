// WGA: gradient ascent weighted by how probable a token is.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// WGA is weighted gradient ascent (Wang et al. 2025): ascent on every token of a forgotten answer,
// weighted by its probability to the power Beta, so that tokens that are improbable already are left
// alone. In TextFit F is the mean over the forget set and an answer's tokens of
//
//	p(token)^Beta / Beta
//
// whose gradient is p^Beta times that of log p. The published programs print p^Beta log p, with no
// gradient through the weight.
//
// Differences: (1) that of the printed loss; the others are those of TextFit.
type WGA struct {
	Beta float64 `json:"beta,omitempty" default:"1"`
	TextFit
}

// Info implements Method.
func (WGA) Info() Info {
	return Info{
		Name: "wga", Sees: Sees{Original: true, Forget: true, Retain: true}, NextToken: true,
		Does: "raises the loss of those tokens of forgotten texts that are still probable, while it trains on retained ones",
		From: "Wang et al. 2025",
	}
}

// SetDefaults implements defaults.Setter.
func (m *WGA) SetDefaults() { m.setDefaults(5, 1) }

// AtRate implements Rated.
func (m WGA) AtRate(lr float64) WGA {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m WGA) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	return m.run(ctx, r, weightedAscent(m.Beta, 0), nil, false)
}

// weightedAscent is the loss of WGA and SatImp.
func weightedAscent(saturation float64, importance int) textTarget {
	return func(_ Request, m text.NextTokenModel, d Data) (train.Target, error) {
		in, err := m.NextInputs(d.X)
		l := loss.WeightedAscent{Vocabulary: m.Loss().Vocabulary, Saturation: saturation, Importance: importance}
		return train.Target{Loss: l, Inputs: in, Weight: 1}, err
	}
}
