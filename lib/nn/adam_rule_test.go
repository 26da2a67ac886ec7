package nn

import (
	"math"
	"testing"
)

// The step that the build takes, with whatever registers the processor has, has the
// bits of one weight after the other: at every length of the rest behind whole
// registers, for large and tiny numbers and for those below the smallest normal one.
func TestAdamInRegistersHasTheBitsOfAdam(t *testing.T) {
	rng := generator(21)
	a := adamRule{b1: 0.9, b2: 0.999, c1: float32(1 - 0.9), c2: float32(1 - 0.999), root: 0.3, eps: 1e-8, rate: 0.01, shrink: 0.999}
	for n := range 67 {
		var one, other [3][]float32
		grad := make([]float64, n)
		for j := range grad {
			grad[j] = rng.NormFloat64() * math.Pow(10, float64(rng.IntN(44)-40))
			for k := range one {
				x := float32(rng.NormFloat64() * math.Pow(10, float64(rng.IntN(46)-44)))
				if k == 2 {
					x = max(x, -x) // second moments
				}
				one[k], other[k] = append(one[k], x), append(other[k], x)
			}
		}
		for range 3 {
			a.move(one[0], one[1], one[2], grad)
			a.movePlain(other[0], other[1], other[2], grad)
		}
		for k := range one {
			for j, x := range one[k] {
				if math.Float32bits(x) != math.Float32bits(other[k][j]) {
					t.Fatalf("%d weights: number %d of element %d is %v, one by one %v", n, k, j, x, other[k][j])
				}
			}
		}
	}
}

func TestWhatIsNotFiniteIsSeenAtAnyPlace(t *testing.T) {
	for n := range 35 {
		x := make([]float64, n)
		for j := range x {
			x[j] = math.MaxFloat64 * float64(1-2*(j%2))
		}
		if !allFinite(x) || !allFinitePlain(x) {
			t.Errorf("%d finite values are not", n)
		}
		for j := range x {
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				was := x[j]
				x[j] = bad
				if allFinite(x) || allFinitePlain(x) {
					t.Errorf("%v at %d of %d is taken for finite", bad, j, n)
				}
				x[j] = was
			}
		}
	}
}
