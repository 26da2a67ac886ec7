// The weights of two terms as in the code of BlindU.

package train

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/lethe-ml/lethe/lib/nn"
)

// RatioWeights combines two terms as BlindU's code does, whose loss is
//
//	L = |A|/(|A| + B) A + B/(|A| + B) B
//
// where A is the value of the first term (in BlindU the mutual information minus the
// forget set's cross-entropy) and B >= 0 that of the second. The code differentiates the
// ratios too, so the gradients of A and B have the weights
//
//	A < 0:  dL/dA = 1                            dL/dB = 1
//	A = 0:  dL/dA = 0                            dL/dB = 1
//	A > 0:  dL/dA = (A^2 + 2AB - B^2)/(A + B)^2  dL/dB = (B^2 + 2AB - A^2)/(A + B)^2
//
// because L is A + B for A < 0 and (A^2 + B^2)/(A + B) for A > 0. (At A = 0, where L has
// a kink, automatic differentiation takes 0 for the derivative of |A|.) A weight may be
// negative: for 0 < A < (sqrt(2) - 1) B the step increases A, so it decreases the
// cross-entropy of the forget set and learns these records again; for
// B < (sqrt(2) - 1) A it increases B. The weighted values add up to L.
type RatioWeights struct{}

var _ GradientCombiner = RatioWeights{}

// Weights implements GradientCombiner.
func (RatioWeights) Weights(values []float64, gram [][]float64) ([]float64, error) {
	if err := checkGram(gram, 2); err != nil {
		return nil, err
	}
	a, b := values[0], values[1]
	switch {
	case math.IsNaN(a+b) || math.IsInf(a+b, 0):
		return nil, nn.NotFinitef("", "the terms have the values %v and %v", a, b)
	case b < 0:
		return nil, fmt.Errorf("the second term has the value %v, which must not be negative", b)
	case a < 0:
		return []float64{1, 1}, nil
	case a == 0:
		return []float64{0, 1}, nil
	}
	r, s := a/(a+b), b/(a+b)
	return []float64{float64(r*r) + float64(2*r*s) - float64(s*s), float64(s*s) + float64(2*r*s) - float64(r*r)}, nil
}

var _ GraphCombiner = RatioWeights{}

// GraphTerms implements GraphCombiner.
func (RatioWeights) GraphTerms(terms int) bool { return terms == 2 }

// GraphWeights implements GraphCombiner.
func (RatioWeights) GraphWeights(values []*graph.Node, _ [][]*graph.Node) []*graph.Node {
	a, b := values[0], values[1]
	zero, one := graph.ZerosLike(a), graph.OnesLike(a)
	r, s := graph.Div(a, graph.Add(a, b)), graph.Div(b, graph.Add(a, b))
	cross, rr, ss := graph.MulScalar(graph.Mul(r, s), 2), graph.Square(r), graph.Square(s)
	first := graph.Where(graph.GreaterThan(a, zero), graph.Sub(graph.Add(rr, cross), ss), graph.Where(graph.LessThan(a, zero), one, zero))
	second := graph.Where(graph.GreaterThan(a, zero), graph.Sub(graph.Add(ss, cross), rr), one)
	refused := graph.Where(graph.LessThan(b, zero), graph.Div(zero, zero), one)
	return []*graph.Node{graph.Mul(first, refused), graph.Mul(second, refused)}
}
