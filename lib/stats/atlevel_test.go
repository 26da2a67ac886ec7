package stats

import (
	"math"
	"testing"
)

// An interval of few values at another level is the one that is computed there: its quantiles are Student's, not normal ones.
func TestAtLevelIsTheIntervalOfThatLevel(t *testing.T) {
	for _, x := range [][]float64{{1, 4, 2, 8, 5, 7}, {0.2, 0.1}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4}} {
		for _, level := range []float64{0.8, 0.95, 0.9833, 0.999} {
			got, want := MeanInterval(x, 0.95, "records").AtLevel(level), MeanInterval(x, level, "records")
			if math.Abs(got.Low-want.Low) > 1e-9*math.Abs(want.Low) || math.Abs(got.High-want.High) > 1e-9*math.Abs(want.High) {
				t.Errorf("%d values at %g: [%g, %g], want [%g, %g]", len(x), level, got.Low, got.High, want.Low, want.High)
			}
		}
	}
	// Of groups the degrees of freedom are those of the groups. t 0.9975 of 5 degrees: 4.7733, t 0.975: 2.5706 (tables of the distribution).
	e := Estimate{Value: 0.5, Low: 0.4, High: 0.6, Level: 0.95, N: 1000, Clustered: &Clustered{Freedom: 5}}.AtLevel(0.995)
	if half := 0.1 * 4.7733 / 2.5706; math.Abs(e.High-0.5-half) > 1e-4 {
		t.Errorf("six groups: half of the interval is %g, want %g", e.High-0.5, half)
	}
}

// Student's quantiles go to the normal ones, far out too.
func TestStudentsQuantilesOfManyDegrees(t *testing.T) {
	for _, tail := range []float64{0.025, 5e-4, 5e-6, 5e-8, 5e-10} {
		z := normalQuantile(1 - tail)
		last := studentQuantile(1-tail, 100)
		for _, df := range []float64{1000, 9_999, 10_000, 100_000, 1e6, 1e9} {
			q := studentQuantile(1-tail, df)
			if q >= last || q < z-1e-9 {
				t.Errorf("tail %v, %v degrees: %v after %v, the normal quantile is %v", tail, df, q, last, z)
			}
			last = q
		}
		if below, at := studentQuantile(1-tail, 9_999), studentQuantile(1-tail, 10_001); below-at > 1e-5 {
			t.Errorf("tail %v: %v, then %v", tail, below, at)
		}
		for _, df := range []float64{60, 200, 5000} {
			if exact, near := studentQuantile(1-tail, df), studentExpansion(1-tail, df); math.Abs(near/exact-1) > 2e-4 {
				t.Errorf("tail %v, %v degrees: %v, the expansion has %v", tail, df, exact, near)
			}
		}
		if low, high := studentQuantile(tail, 1e6), studentQuantile(1-tail, 1e6); math.Abs(low+high) > 1e-6 {
			t.Errorf("tail %v: %v and %v", tail, low, high)
		}
	}
}
