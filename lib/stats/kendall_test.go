package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// scipy 1.17.1: stats.kendalltau(x, y).statistic.
func TestKendallIsScipys(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{3, 1, 4, 1, 5, 9, 2, 6}, []float64{2, 7, 1, 8, 2, 8, 1, 8}, 0.16051447078102563},
		{[]float64{1, 2, 3, 4, 5}, []float64{5, 6, 7, 8, 7}, 0.7378647873726218},
		{[]float64{1, 2, 3}, []float64{-1, -10, -11}, -1},
		{[]float64{12, 2, 1, 12, 2}, []float64{1, 4, 7, 1, 0}, -0.4714045207910316},
	} {
		if got, err := Kendall(c.x, c.y); err != nil || math.Abs(got-c.want) > 1e-14 {
			t.Errorf("%v, %v: %v, want %v", got, err, c.x, c.want)
		}
	}
	for _, bad := range [][2][]float64{{nil, nil}, {{1}, {2}}, {{1, 2}, {1}}, {{1, math.NaN()}, {1, 2}}, {{1, 2}, {1, math.Inf(1)}}} {
		if _, err := Kendall(bad[0], bad[1]); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	for _, c := range [][2][]float64{{{1, 1}, {1, 2}}, {{1, 2}, {3, 3}}} {
		if _, err := Kendall(c[0], c[1]); !errors.Is(err, ErrConstant) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// Every pair counted by itself, on values with many ties and with few.
func TestKendallCountsPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	for n := 2; n < 60; n++ {
		for _, kinds := range []int{2, 5, 1000} {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i], y[i] = float64(rng.IntN(kinds)), float64(rng.IntN(kinds))
			}
			x[0], x[1], y[0], y[1] = -1, -2, -3, -1 // not constant
			got, err := Kendall(x, y)
			if want := kendallByPairs(x, y); err != nil || math.Abs(got-want) > 1e-12 {
				t.Fatalf("n %d: %v, %v, want %v of %v, %v", n, got, err, want, x, y)
			}
			if other, _ := Kendall(y, x); math.Abs(other-got) > 1e-12 {
				t.Fatalf("exchanged: %v, not %v", other, got)
			}
		}
	}
}

func kendallByPairs(x, y []float64) float64 {
	sign := func(d float64) float64 {
		if d == 0 {
			return 0
		}
		return math.Copysign(1, d)
	}
	balance, inX, inY := 0.0, 0.0, 0.0
	for i := range x {
		for j := range i {
			u, v := sign(x[i]-x[j]), sign(y[i]-y[j])
			balance, inX, inY = balance+u*v, inX+u*u, inY+v*v
		}
	}
	return balance / math.Sqrt(inX*inY)
}
