// SimNPO: negative preference optimisation without a reference.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/array"
)

// SimNPO is simple negative preference optimisation (Fan et al. 2024, equation 4): NPO without the
// original, with the mean over an answer's n tokens in place of their sum. In TextFit F is the mean
// over the forget set of
//
//	(2 / Beta) log(1 + exp(Beta (log p(answer) / n + Delta)))
//
// The paper's gamma is Beta Delta.
//
// Differences: those of TextFit.
type SimNPO struct {
	Beta  float64 `json:"beta,omitempty" default:"4.5"`
	Delta float64 `json:"delta,omitempty"`
	TextFit
}

// Info implements Method.
func (SimNPO) Info() Info {
	return Info{
		Name: "simnpo", Sees: Sees{Original: true, Forget: true, Retain: true}, NextToken: true,
		Does: "makes the tokens of forgotten texts improbable, the further the more slowly, while it trains on retained ones",
		From: "Fan et al. 2024",
	}
}

// SetDefaults implements defaults.Setter.
func (m *SimNPO) SetDefaults() { m.setDefaults(10, 0.125) }

// AtRate implements Rated.
func (m SimNPO) AtRate(lr float64) SimNPO {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m SimNPO) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	references := array.New[float32](r.Forget.X.Rows, 1)
	for i := range references.Data {
		references.Data[i] = float32(-m.Delta)
	}
	return m.run(ctx, r, lessProbable(m.Beta, meanWeights, references), nil, false)
}
