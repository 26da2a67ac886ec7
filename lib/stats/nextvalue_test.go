package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Values by scipy 1.17.1: t.ppf(0.5+level/2, f) * sqrt(s2 * (1 + 1/n)).
func TestNextValueByHand(t *testing.T) {
	for _, c := range []struct {
		x                    []float64
		prior, weight, level float64
		low, high            float64
	}{
		{x: []float64{0.5, 0.52, 0.47}, prior: 4e-4, weight: 2, level: 0.95, low: 0.42379416459970337, high: 0.56953916873363},
		{x: []float64{0.5, 0.52, 0.47}, prior: 4e-4, weight: 2.5, level: 0.9, low: 0.4431365615857644, high: 0.5501967717475689},
		{x: []float64{0.5, 0.52, 0.47}, prior: 9, weight: 0, level: 0.95, low: 0.37163447707915104, high: 0.6216988562541823},
		{x: []float64{0.5}, prior: 4e-4, weight: 2, level: 0.95, low: 0.37830260310813385, high: 0.6216973968918662},
	} {
		low, high := NextValue(c.x, c.prior, c.weight, c.level)
		if math.Abs(low-c.low) > 1e-9 || math.Abs(high-c.high) > 1e-9 {
			t.Errorf("%v: %v to %v, want %v to %v", c.x, low, high, c.low, c.high)
		}
	}
	for _, x := range [][]float64{nil, {0.5}, {math.NaN(), 1}} {
		if low, high := NextValue(x, 1, 0, 0.95); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%v without anything known: %v to %v", x, low, high)
		}
	}
	for _, bad := range [][3]float64{{-1, 2, 0.95}, {1, -2, 0.95}, {math.NaN(), 2, 0.95}, {math.Inf(1), 2, 0.95}, {1, 2, 1}, {1, 2, 0}} {
		if low, high := NextValue([]float64{1, 2}, bad[0], bad[1], bad[2]); !math.IsNaN(low) || !math.IsNaN(high) {
			t.Errorf("%v: %v to %v", bad, low, high)
		}
	}
}

// Where variances are drawn as the prior says, 95 of 100 further values lie inside, however few values
// there are.
func TestNextValueCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 2, 5} {
		inside := 0
		const draws = 20000
		for range draws {
			// An inverse chi-squared of four degrees of freedom about the prior 1.
			chi := 0.0
			for range 4 {
				z := rng.NormFloat64()
				chi += z * z
			}
			sd := math.Sqrt(4 / chi)
			x := make([]float64, n+1)
			for i := range x {
				x[i] = 3 + sd*rng.NormFloat64()
			}
			if low, high := NextValue(x[:n], 1, 4, 0.95); low <= x[n] && x[n] <= high {
				inside++
			}
		}
		if share := float64(inside) / draws; math.Abs(share-0.95) > 0.006 {
			t.Errorf("%d values: %v of further values are inside", n, share)
		}
	}
}
