package stats

import (
	"math"
	"testing"
)

func delong(t *testing.T, pos, neg []float64) Estimate {
	t.Helper()
	e, err := DeLong(pos, neg, 0.95)
	must(t, err)
	return e
}

// The placements written out with NumPy 2.4.6 and SciPy 1.17.1's normal quantile.
func TestDeLongMatchesItsDefinition(t *testing.T) {
	e := delong(t, goldenPos, goldenNeg)
	checkClose(t, "value", e.Value, 0.75625, 1e-15)
	checkClose(t, "low", e.Low, 0.5232025773394025, 1e-13)
	checkClose(t, "high", e.High, 0.9892974226605975, 1e-13)
	if *e.Null != 0.5 || e.N != 18 || e.Level != 0.95 || e.Over != "records" {
		t.Errorf("estimate %+v", e)
	}
}

func TestDeLongOfSwappedSamplesIsMirrored(t *testing.T) {
	a, b := delong(t, goldenPos, goldenNeg), delong(t, goldenNeg, goldenPos)
	checkClose(t, "low", b.Low, 1-a.High, 1e-14)
	checkClose(t, "high", b.High, 1-a.Low, 1e-14)
}

// SciPy 1.17.1, binomtest(8, 8).proportion_ci(method="exact").
func TestDeLongOfSeparatedSamplesIsTheExactBound(t *testing.T) {
	low, high := sequence(8, func(i float64) float64 { return i }), sequence(12, func(i float64) float64 { return 100 + i })
	up, down := delong(t, high, low), delong(t, low, high)
	checkClose(t, "low at AUC 1", up.Low, 0.6305833524471808, 1e-14)
	checkClose(t, "high at AUC 0", down.High, 1-0.6305833524471808, 1e-14)
	if up.High != 1 || up.Value != 1 || down.Low != 0 || down.Value != 0 {
		t.Errorf("AUC 1: %v, AUC 0: %v", up, down)
	}
}

// SciPy 1.17.1, binomtest(4, 8).proportion_ci(method="wilson").
func TestDeLongOfEqualScoresIsWilson(t *testing.T) {
	e := delong(t, make([]float64, 8), make([]float64, 9))
	checkClose(t, "value", e.Value, 0.5, 0)
	checkClose(t, "low", e.Low, 0.21521606221387757, 1e-14)
	checkClose(t, "high", e.High, 0.7847839377861224, 1e-14)
}

func TestDeLongOfOneRecordHasAWideInterval(t *testing.T) {
	e := delong(t, []float64{5.5}, sequence(10, func(i float64) float64 { return i }))
	if e.Value != 0.6 || !(e.Low < 0.15 && e.High > 0.9) || !e.HasInterval() {
		t.Errorf("one positive gives %v", e)
	}
}

func TestIntervalAtAUCOneCoversSharplySeparatedNormals(t *testing.T) {
	rng := newRNG(21)
	truth := math.Erfc(-3.0/math.Sqrt2/math.Sqrt2) / 2 // P(N(3,1) > N(0,1))
	hits, atOne := 0, 0
	for range 500 {
		e := delong(t, normals(rng, 8, 3), normals(rng, 8, 0))
		if e.Value != 1 {
			continue
		}
		atOne++
		if e.Low <= truth && truth <= e.High {
			hits++
		}
	}
	if atOne < 50 || hits != atOne {
		t.Errorf("the interval at AUC = 1 covers %v in %d of %d samples", truth, hits, atOne)
	}
}
