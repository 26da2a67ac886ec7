// Ascent on a text whose tokens are weighted by how probable they are.

package loss

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
)

// WeightedAscent raises the loss of tokens by weights that follow from their own probabilities p:
// its derivative by log p is
//
//	w_p p^Saturation (1 - p)^Importance
//
// so that tokens that are improbable already are left alone. Saturation 1 is weighted gradient
// ascent (WGA, Wang et al. 2025); 5 with Importance 1 is SatImp (Yang et al. 2025).
//
// The published programs multiply log p by this weight and keep the weight out of the gradient. The
// loss here is the function that has the same gradient,
//
//	sum_p w_p sum_k binomial(Importance, k) (-1)^k p^(Saturation + k) / (Saturation + k)
//
// for WGA the mean probability of a token. It says what is minimised; the published product does not.
type WeightedAscent struct {
	Vocabulary int     `json:"vocabulary"`
	Saturation float64 `json:"saturation"`           // positive
	Importance int     `json:"importance,omitempty"` // 0 to 8
}

var _ Loss = WeightedAscent{}

// maxImportance is the greatest exponent of 1 - p: the signs of the sum alternate.
const maxImportance = 8

// Name implements Loss.
func (WeightedAscent) Name() string { return "weighted-ascent" }

// About implements Loss.
func (WeightedAscent) About() string {
	return "the probability of a text's tokens to a language model, those that are probable above all"
}

// Inputs implements Loss.
func (l WeightedAscent) Inputs(outputs map[string]int) (map[string]int, error) {
	return nextInputs(l, l.Vocabulary, outputs)
}

// Check implements Loss.
func (l WeightedAscent) Check(in map[string]array.Matrix[float32]) error {
	if err := checkPositive("saturation", l.Saturation); err != nil {
		return err
	}
	if l.Importance < 0 || l.Importance > maxImportance {
		return fmt.Errorf("the importance is %d, possible are 0 to %d", l.Importance, maxImportance)
	}
	return checkNext(l, l.Vocabulary, in)
}

// Graph implements Loss.
func (l WeightedAscent) Graph(g Batch) Value {
	t := readTokens(g.Outputs[NextLogits], g.Inputs[NextTokens], l.Vocabulary)
	weights := t.row(g.Inputs[NextWeights])
	power := func(a float64) *Node { return Exp(MulScalar(t.surprise, -a)) } // p^a
	each, slope, binomial := ZerosLike(weights), power(l.Saturation), 1.0
	for k := range l.Importance + 1 {
		a := l.Saturation + float64(k)
		each = Add(each, MulScalar(power(a), binomial/a))
		binomial *= -float64(l.Importance-k) / float64(k+1)
	}
	rest := OneMinus(power(1))
	for range l.Importance {
		slope = Mul(slope, rest)
	}
	back := Neg(Mul(slope, weights))
	return Value{t.sum(Mul(each, weights)), map[string]*Node{NextLogits: t.scores(Mul(t.slope, t.every(back)))}}
}
