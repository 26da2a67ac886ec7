package stats

import (
	"math"
	"testing"
)

// The interval for 30 of 50 is from statsmodels 0.15.0,
// proportion_confint(30, 50, method="wilson").
func TestWilsonEqualsStatsmodels(t *testing.T) {
	e := Wilson(0.6, 50, 0.95)
	if math.Abs(e.Low-0.4618143774758935) > 1e-12 || math.Abs(e.High-0.7239161026974344) > 1e-12 {
		t.Errorf("[%v, %v]", e.Low, e.High)
	}
}

// At the ends the interval holds the share itself, which rounding alone would leave out,
// and is no point.
func TestWilsonHoldsTheShareAtBothEnds(t *testing.T) {
	for n := 1; n < 3000; n++ {
		for _, level := range []float64{0.9, 0.95, 0.99} {
			none, all := Wilson(0, n, level), Wilson(1, n, level)
			if none.Low != 0 || all.High != 1 || !(none.High > 0 && none.High < 1) || !(all.Low > 0 && all.Low < 1) {
				t.Fatalf("%d: %+v, %+v", n, none, all)
			}
		}
	}
}

func TestWilsonStaysInsideAndRefusesWhatIsNoShare(t *testing.T) {
	if e := Wilson(1, 10, 0.95); e.High != 1 || e.Low <= 0.6 {
		t.Errorf("10 of 10: [%v, %v]", e.Low, e.High)
	}
	for _, e := range []Estimate{Wilson(0.5, 0, 0.95), Wilson(1.1, 5, 0.95), Wilson(math.NaN(), 5, 0.95), Wilson(0.5, 5, 1)} {
		if !math.IsNaN(e.Value) || !math.IsNaN(e.Low) {
			t.Errorf("%+v", e)
		}
	}
}
