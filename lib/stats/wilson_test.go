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
