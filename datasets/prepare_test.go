package datasets

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// A power of two scales mean and standard deviation, however large or small it is; numbers of an ordinary size
// keep their bits. Squares of numbers near either end of float64 overflow or vanish.
func TestScalingHoldsForNumbersOfEverySize(t *testing.T) {
	column := []float64{1.5, -0.75, 2, 0.125, -3, 1}
	rows := []int{0, 1, 2, 3, 4, 5}
	at := func(exponent int) Normalisation {
		x := array.New[float64](len(column), 2)
		for i, v := range column {
			x.Row(i)[0], x.Row(i)[1] = math.Ldexp(v, exponent), math.Ldexp(0.7, exponent)
		}
		return scaler(x, rows)
	}
	want := at(0)
	for _, exponent := range []int{-1020, -1000, -600, -480, -100, 100, 480, 600, 1000, 1021} {
		got := at(exponent)
		if mean, sd := math.Ldexp(got.Mean[0], -exponent), math.Ldexp(got.SD[0], -exponent); math.Abs(mean-want.Mean[0])+math.Abs(sd-want.SD[0]) > 1e-15 {
			t.Errorf("times 2^%d: mean %v, standard deviation %v, want %v and %v", exponent, mean, sd, want.Mean[0], want.SD[0])
		}
		if got.SD[1] != 1 {
			t.Errorf("times 2^%d: a constant column is divided by %v", exponent, got.SD[1])
		}
	}
	x := array.New[float64](2, 1)
	x.Data[1] = math.Inf(1)
	if n := scaler(x, []int{0, 1}); n.SD[0] != 1 {
		t.Errorf("an infinite number: %+v", n)
	}
}
