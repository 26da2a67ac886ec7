// Negative preference optimisation: a text is to become less probable than a reference.

package loss

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// ReferenceLogProb is an input of NegativePreference: one number per record.
const ReferenceLogProb = "reference-log-probability"

// NegativePreference is the loss of negative preference optimisation (Zhang et al. 2024, equation
// 3). For the log-probability of a record's tokens that count, s = sum_p w_p log p(y_p), and a
// reference r, such as that of a reference model,
//
//	(2 / Beta) log(1 + exp(Beta (s - r)))
//
// Its derivative by s, 2 sigmoid(Beta (s - r)), goes to 0 as the text becomes less probable than the
// reference, where that of ascent stays 1. For Beta to 0 it is ascent. With weights of 1 / n and a
// reference of -delta it is SimNPO (Fan et al. 2024), whose gamma is Beta delta.
type NegativePreference struct {
	Vocabulary int     `json:"vocabulary"`
	Beta       float64 `json:"beta"` // positive
}

var _ Loss = NegativePreference{}

// Name implements Loss.
func (NegativePreference) Name() string { return "negative-preference" }

// About implements Loss.
func (NegativePreference) About() string {
	return "how much more probable a text is to a language model than a reference, with a bounded slope"
}

// Inputs implements Loss.
func (l NegativePreference) Inputs(outputs map[string]int) (map[string]int, error) {
	in, err := nextInputs(l, l.Vocabulary, outputs)
	if err != nil {
		return nil, err
	}
	in[ReferenceLogProb] = 1
	return in, nil
}

// Check implements Loss.
func (l NegativePreference) Check(in map[string]array.Matrix[float32]) error {
	if err := checkPositive("beta", l.Beta); err != nil {
		return err
	}
	return checkNext(l, l.Vocabulary, in)
}

// Graph implements Loss.
func (l NegativePreference) Graph(g Batch) Value {
	t := readTokens(g.Outputs[NextLogits], g.Inputs[NextTokens], l.Vocabulary)
	weights := t.row(g.Inputs[NextWeights])
	losses, slope := preference(Sub(t.logProb(weights), g.Inputs[ReferenceLogProb]), l.Beta)
	return Value{losses, map[string]*Node{NextLogits: t.logProbSlope(slope, weights)}}
}

// preference returns (2 / beta) log(1 + exp(beta x)) and its derivative by x.
func preference(x *Node, beta float64) (losses, slope *Node) {
	x = MulScalar(x, beta)
	softplus := Add(MaxScalar(x, 0), Log1P(Exp(Neg(Abs(x)))))
	return MulScalar(softplus, 2/beta), MulScalar(Sigmoid(x), 2)
}
