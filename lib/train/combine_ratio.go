package train

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/nn"
)

// RatioWeights mixes two terms as BlindU's program does, whose loss is
//
//	L = |A|/(|A| + B) A + B/(|A| + B) B
//
// where A is the first term's value (there the mutual information less the erased
// records' cross-entropy) and B >= 0 the second's. The program differentiates the
// ratios too, so that the gradients of A and B enter the step with
//
//	A < 0:  dL/dA = 1                            dL/dB = 1
//	A = 0:  dL/dA = 0                            dL/dB = 1
//	A > 0:  dL/dA = (A^2 + 2AB - B^2)/(A + B)^2  dL/dB = (B^2 + 2AB - A^2)/(A + B)^2
//
// because L is A + B where A < 0, and (A^2 + B^2)/(A + B) where A > 0. (At 0, where
// L has a kink, automatic differentiation takes the derivative of |A| for 0.) A
// weight may be negative: for 0 < A < (sqrt(2) - 1) B the step climbs A, which means
// that it goes down the cross-entropy of the records that were to be forgotten and
// learns them again; for B < (sqrt(2) - 1) A it climbs B. The weighted values add up
// to L.
type RatioWeights struct{}

var _ GradientCombiner = RatioWeights{}

// Weights implements Mixer.
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
