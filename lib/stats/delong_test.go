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

// The interval of the odds by its formula, from the variance and the degrees of freedom of ClusterAUC with every record
// in a cluster of its own.
func TestAUCOddsIsClusterAUCOfSingleRecords(t *testing.T) {
	e, err := AUCOdds(goldenPos, goldenNeg, 0.95)
	must(t, err)
	above, below := placements(goldenPos, goldenNeg)
	for i := range above {
		above[i] -= e.Value
	}
	for j := range below {
		below[j] -= e.Value
	}
	v, freedom := clusterVariance(sumByCluster([]part{{residuals: above}, {residuals: below}}), []float64{1, 1})
	h := studentQuantile(0.975, freedom) * math.Sqrt(v) / (e.Value * (1 - e.Value))
	odds := func(p float64) float64 { return math.Log(p / (1 - p)) }
	checkClose(t, "value", e.Value, 0.75625, 1e-15)
	checkClose(t, "low", odds(e.Low), odds(e.Value)-h, 1e-12)
	checkClose(t, "high", odds(e.High), odds(e.Value)+h, 1e-12)
	if *e.Null != 0.5 || e.N != 18 || e.Level != 0.95 || e.Over != "records" {
		t.Errorf("estimate %+v", e)
	}
}

// At complete separation, of equal scores and of a single record it is DeLong's.
func TestAUCOddsIsDeLongWhereThatIsNotNormal(t *testing.T) {
	up := sequence(8, func(i float64) float64 { return 100 + i })
	for _, s := range [][2][]float64{{up, goldenNeg}, {goldenNeg, up}, {make([]float64, 8), make([]float64, 9)}, {{5.5}, goldenNeg}} {
		e, err := AUCOdds(s[0], s[1], 0.95)
		must(t, err)
		if d := delong(t, s[0], s[1]); e.Low != d.Low || e.High != d.High || e.Value != d.Value {
			t.Errorf("%v, DeLong %v", e, d)
		}
	}
}

// The table of DeLong, at its ends: 4,000 samples have a standard error of 0.008 or less.
func TestIntervalsOfFewRecordsCoverAsTheirTableSays(t *testing.T) {
	rng := newRNG(31)
	for _, c := range []struct {
		m, n              int
		auc, delong, odds float64
	}{{2, 200, 0.5, 0.68, 0.88}, {5, 200, 0.9, 0.75, 0.89}, {10, 200, 0.95, 0.78, 0.89}, {20, 20, 0.98, 0.86, 0.98}, {50, 50, 0.98, 0.86, 0.94}} {
		const samples = 4000
		ofDeLong, ofOdds := 0, 0
		shift := math.Sqrt2 * normalQuantile(c.auc) // P(N(shift, 1) > N(0, 1)) = Phi(shift/sqrt 2)
		for range samples {
			pos, neg := normals(rng, c.m, shift), normals(rng, c.n, 0)
			odds, err := AUCOdds(pos, neg, 0.95)
			must(t, err)
			d := delong(t, pos, neg)
			if d.Low <= c.auc && c.auc <= d.High {
				ofDeLong++
			}
			if odds.Low <= c.auc && c.auc <= odds.High {
				ofOdds++
			}
		}
		checkClose(t, "coverage of DeLong", float64(ofDeLong)/samples, c.delong, 0.025)
		checkClose(t, "coverage of AUCOdds", float64(ofOdds)/samples, c.odds, 0.025)
	}
}

// The bootstrap of few records covers as AUCBootstrap says.
func TestBootstrapOfFewRecordsCoversAsItSays(t *testing.T) {
	rng := newRNG(32)
	for few, want := range map[int]float64{2: 0.60, 3: 0.73, 5: 0.80} {
		const samples = 500
		hits := 0
		for range samples {
			e, err := AUCBootstrap(normals(rng, few, 0), normals(rng, 200, 0), 0.95, 200, rng)
			must(t, err)
			if e.Low <= 0.5 && 0.5 <= e.High {
				hits++
			}
		}
		checkClose(t, "coverage", float64(hits)/samples, want, 0.07)
	}
}
