package stats

import (
	"math"
	"testing"
)

// statsmodels 0.15.0 multipletests(method="fdr_bh") and SciPy 1.17.1
// false_discovery_control.
func TestBenjaminiHochbergMatchesStatsmodelsAndSciPy(t *testing.T) {
	nearAll(t, "first", BenjaminiHochberg([]float64{.001, .01, .04, .2}), []float64{0.004, 0.02, 0.05333333333333334, 0.2}, 1e-15)
	nearAll(t, "second", BenjaminiHochberg([]float64{.03, .5, .0001, .03, .9, .041, .04}),
		[]float64{0.0574, 0.5833333333333334, 0.0007, 0.0574, 0.9, 0.0574, 0.0574}, 1e-15)
}

func TestBenjaminiHochbergLeavesMissingTestsOut(t *testing.T) {
	got := BenjaminiHochberg([]float64{math.NaN(), .001, .01, -0.5, .04, .2, 1.5})
	nearAll(t, "counted", []float64{got[1], got[2], got[4], got[5]}, BenjaminiHochberg([]float64{.001, .01, .04, .2}), 0)
	for _, i := range []int{0, 3, 6} {
		if !math.IsNaN(got[i]) {
			t.Errorf("adjusted[%d] = %v, want NaN", i, got[i])
		}
	}
	if len(BenjaminiHochberg(nil)) != 0 {
		t.Error("no tests gave adjusted values")
	}
}

func TestBenjaminiHochbergHoldsTheFalseDiscoveryRate(t *testing.T) {
	rng := newRNG(51)
	const reps = 2000
	found := 0
	for range reps {
		p := make([]float64, 24)
		for i := range p {
			p[i] = rng.Float64()
		}
		for _, q := range BenjaminiHochberg(p) {
			if q <= 0.05 {
				found++
				break
			}
		}
	}
	// All nulls true: the rate equals P(any rejection), 0.05 for independent tests.
	checkClose(t, "false discovery rate", float64(found)/reps, 0.05, 0.015)
}
