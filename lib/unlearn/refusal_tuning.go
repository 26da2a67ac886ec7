// RefusalTuning: the model learns to say that it does not know.

package unlearn

import (
	"context"

	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/train"
)

// RefusalTuning teaches a language model to answer the forget set's questions with a refusal, such as
// "I do not know that.", while it trains on the retain set (preference optimisation of TOFU, Maini et
// al. 2024, section 4.1: L_idk). In TextFit F is
//
//	L(D_idk)
//
// with L the mean over an answer's tokens of -log p. It hides what the model knows: nothing lowers
// the probability of the true answers but that of the refusals takes their place.
//
// Differences: (1) a forgotten question has one refusal, drawn once, where TOFU draws one of a
// hundred in every epoch; (2) the refusals are ours. The others are those of TextFit.
// IdkDPO also lowers the true answers.
type RefusalTuning struct{ TextFit }

// Info implements Method.
func (RefusalTuning) Info() Info {
	return Info{
		Name: "refusal-tuning", Sees: Sees{Original: true, Retain: true, Refusals: true}, NextToken: true,
		Does: "trains on refusals in place of forgotten answers, and on retained texts",
		From: "TOFU, Maini et al. 2024",
	}
}

// SetDefaults implements defaults.Setter.
func (m *RefusalTuning) SetDefaults() { m.setDefaults(10, 1) }

// AtRate implements Rated.
func (m RefusalTuning) AtRate(lr float64) RefusalTuning {
	m.LR = lr
	return m
}

// Unlearn implements Method.
func (m RefusalTuning) Unlearn(ctx context.Context, r Request) (*Outcome, error) {
	r.Forget = r.Refusals
	learn := func(r Request, _ text.NextTokenModel, d Data) (train.Target, error) { return r.ownTarget(d, 1) }
	return m.run(ctx, r, learn, nil, false)
}
