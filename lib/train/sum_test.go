package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/nn"
)

// A sum does not include old values of its memory, also if an execution has no gradient.
func TestALaneKeepsNothingThatWasLeft(t *testing.T) {
	said := func(grad ...float32) []*tensors.Tensor {
		return []*tensors.Tensor{tensors.FromScalar(float32(1)), tensors.FromFlatDataAndDimensions(grad, len(grad))}
	}
	for _, order := range [][][]float32{{{0}, {1, 2, 3}}, {{1, 2, 3}, {0}}} {
		s := newGradientSum(nn.Params{{Data: make([]float32, 3)}})
		s.grads[0][0], s.grads[0][2] = 7, math.NaN()
		s.reset()
		for _, grad := range order {
			if _, err := s.addTensors(said(grad...)); err != nil {
				t.Fatal(err)
			}
		}
		if want := []float64{1, 2, 3}; s.loss != 2 || !slices.Equal(s.grads[0], want) {
			t.Errorf("%v: loss %v, %v", order, s.loss, s.grads[0])
		}
	}
}

// A sum block by block has the bits of lanes that are added one after the other, in which a
// gradient that is not given is 0.
func TestAddingUpIsAddingLanes(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	number := func() float32 {
		switch g.IntN(8) {
		case 0:
			return float32(math.Copysign(0, -1))
		case 1:
			return 0
		}
		return float32(g.NormFloat64() * math.Pow(2, float64(g.IntN(60)-30)))
	}
	for _, size := range []int{0, 1, 17, 2048, 5000, 1 << 18} {
		for n := 1; n <= 4; n++ {
			for given := range 1 << n { // which of them are given, bit by bit
				lanes := make([][]float64, n)
				var grads [][]float32
				for k := range lanes {
					lanes[k] = make([]float64, size)
					if given>>k&1 == 0 {
						continue
					}
					grad := make([]float32, size)
					for j := range grad {
						grad[j] = number()
						lanes[k][j] = float64(grad[j])
					}
					grads = append(grads, grad)
				}
				want := gradientSum{grads: lanes[:1]}
				for _, lane := range lanes[1:] {
					want.add(gradientSum{grads: [][]float64{lane}})
				}
				got := make([]float64, size)
				for j := range got {
					got[j] = math.NaN() // of another step
				}
				sumGradients(got, grads, n)
				for j, v := range got {
					if math.Float64bits(v) != math.Float64bits(want.grads[0][j]) {
						t.Fatalf("%d numbers, %d gradients, of which %b: element %d is %v, not %v", size, n, given, j, v, want.grads[0][j])
					}
				}
				if size > 5000 && given > 1 {
					break
				}
			}
		}
	}
}
