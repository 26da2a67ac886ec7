// NPO: negative preference optimisation.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// NPO is negative preference optimisation (Zhang et al. 2024, equation 3): answers of the forget set
// become less probable than they were to the original p_0, and the further the more slowly. In
// TextFit F is the mean over the forget set of
//
//	(2 / Beta) log(1 + (p(answer) / p_0(answer))^Beta)
//
// with the joint probability of an answer's tokens. For Beta to 0 it is GradDiff, but for the number
// of tokens.
//
// Differences: those of TextFit.
type NPO struct {
	Beta float64 `json:"beta,omitempty" default:"0.1"`
	TextFit
}

// Info implements Method.
func (NPO) Info() Info {
	return Info{
		Name: "npo", Sees: Sees{Original: true, Forget: true, Retain: true}, NextToken: true,
		Does: "makes forgotten texts less probable than they were, the further the more slowly, while it trains on retained ones",
		From: "Zhang et al. 2024",
	}
}

// SetDefaults implements defaults.Setter.
func (m *NPO) SetDefaults() { m.setDefaults(10, 1) }

// AtRate implements Rated.
func (m NPO) AtRate(lr float64) NPO {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m NPO) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	before, err := logProbs(r.Runner, r.Original, r.Forget.X)
	if err != nil {
		return nil, err
	}
	return m.run(ctx, r, lessProbable(m.Beta, jointWeights, before), nil, false)
}

// lessProbable is the loss of NPO and SimNPO: texts are to be less probable than the references. weights
// says how their tokens count.
func lessProbable(beta float64, weights func(map[string]array.Matrix[float32]) map[string]array.Matrix[float32], references array.Matrix[float32]) textTarget {
	return func(_ Request, m text.NextTokenModel, d Data) (train.Target, error) {
		in, err := m.NextInputs(d.X)
		if err != nil {
			return train.Target{}, err
		}
		in = weights(in)
		in[loss.ReferenceLogProb] = references
		return train.Target{Loss: loss.NegativePreference{Vocabulary: m.Loss().Vocabulary, Beta: beta}, Inputs: in, Weight: 1}, nil
	}
}
