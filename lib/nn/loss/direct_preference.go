// Direct preference optimisation: one text is to become more probable than another.

package loss

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// SecondLogits is the output NextLogits for the second record of a pair.
const SecondLogits = "second-next-logits"

// SecondTokens and SecondWeights are NextTokens and NextWeights of the second record of a pair.
const (
	SecondTokens  = "second-next-tokens"
	SecondWeights = "second-next-weights"
)

// DirectPreference is the loss of direct preference optimisation (Rafailov et al. 2023, equation 7),
// scaled as in NPO. Of a pair of texts the second is preferred. With their log-probabilities
// s = sum_p w_p log p(y_p), s' for the second, and a reference r, such as s - s' of a reference model,
//
//	(2 / Beta) log(1 + exp(Beta (s - s' - r)))
//
// which is -(2 / Beta) log sigmoid(Beta (s' - s + r)). The derivatives by s and s' have the same size
// and opposite signs, and go to 0 as the second text gains on the first. Without a second text it is
// NegativePreference.
type DirectPreference struct {
	Vocabulary int     `json:"vocabulary"`
	Beta       float64 `json:"beta"` // positive
}

var _ Loss = DirectPreference{}

// Name implements Loss.
func (DirectPreference) Name() string { return "direct-preference" }

// About implements Loss.
func (DirectPreference) About() string {
	return "how much more probable a text is to a language model than another that is preferred, beside a reference"
}

// Inputs implements Loss.
func (l DirectPreference) Inputs(outputs map[string]int) (map[string]int, error) {
	in, err := nextInputs(l, l.Vocabulary, outputs)
	if err != nil {
		return nil, err
	}
	positions, err := positionsOf(l, l.Vocabulary, outputs, SecondLogits)
	in[SecondTokens], in[SecondWeights], in[ReferenceLogProb] = positions, positions, 1
	return in, err
}

// Check implements Loss.
func (l DirectPreference) Check(in map[string]array.Matrix[float32]) error {
	if err := checkPositive("beta", l.Beta); err != nil {
		return err
	}
	if err := checkNext(l, l.Vocabulary, in); err != nil {
		return err
	}
	if err := checkTokens(l, "token", l.Vocabulary, in[SecondTokens], in[SecondWeights]); err != nil {
		return fmt.Errorf("the second of a pair: %w", err)
	}
	return nil
}

// Graph implements Loss.
func (l DirectPreference) Graph(g Batch) Value {
	first := readTokens(g.Outputs[NextLogits], g.Inputs[NextTokens], l.Vocabulary)
	second := readTokens(g.Outputs[SecondLogits], g.Inputs[SecondTokens], l.Vocabulary)
	w, v := first.row(g.Inputs[NextWeights]), second.row(g.Inputs[SecondWeights])
	losses, slope := preference(Sub(Sub(first.logProb(w), second.logProb(v)), g.Inputs[ReferenceLogProb]), l.Beta)
	return Value{losses, map[string]*Node{NextLogits: first.logProbSlope(slope, w), SecondLogits: second.logProbSlope(Neg(slope), v)}}
}
