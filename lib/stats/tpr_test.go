package stats

import (
	"math"
	"testing"
)

// The bounds are from scipy 1.17.1, stats.beta.ppf(0.0125, ...) and stats.binom.
func TestClopperPearsonAndTheBinomialRangeMatchSciPy(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 60, 0, 0.0704305687985048},
		{1, 60, 0.000209624395849719, 0.101702783954707},
		{30, 50, 0.432210184644054, 0.752417973481079},
		{59, 60, 0.898297216045293, 0.99979037560415},
		{60, 60, 0.929569431201495, 1},
		{7, 100000, 2.43665216094792e-05, 0.000156243757882064},
	} {
		checkClose(t, "low", shareLowerBound(c.k, c.n, 0.0125), c.low, 1e-9)
		checkClose(t, "high", shareUpperBound(c.k, c.n, 0.0125), c.high, 1e-9)
	}
	for _, c := range []struct {
		n      int
		p      float64
		lo, hi int
	}{{60, 0.05, 0, 7}, {60, 0.001, 0, 1}, {150, 0.05, 2, 14}, {1000, 0.01, 4, 18}, {100000, 0.001, 78, 123}, {1, 0.05, 0, 1}} {
		if lo, hi := binomialRange(c.n, c.p, 0.0125); lo != c.lo || hi != c.hi {
			t.Errorf("%d trials of %g: %d to %d, want %d to %d", c.n, c.p, lo, hi, c.lo, c.hi)
		}
	}
}

// Positives are shifted by one standard deviation: at a false positive rate of p the
// true positive rate is 1 - Phi(z - 1) with the quantile z of 1 - p.
func TestTPRIntervalsHoldTheTrueRateWhateverTheSizes(t *testing.T) {
	rng := newRNG(21)
	const draws = 400
	for _, c := range []struct {
		pos, neg int
		fpr      float64
	}{{40, 60, 0.001}, {40, 60, 0.01}, {40, 60, 0.05}, {20, 1000, 0.01}, {500, 500, 0.05}} {
		want := 0.5 * math.Erfc((normalQuantile(1-c.fpr)-1)/math.Sqrt2)
		held := 0
		for range draws {
			e, err := TPRInterval(normals(rng, c.pos, 1), normals(rng, c.neg, 0), c.fpr, 0.95)
			must(t, err)
			if e.Low <= want && want <= e.High {
				held++
			}
			if known := !math.IsNaN(e.Value); known != (float64(c.neg)*c.fpr >= 1) || known && (e.Value < e.Low || e.Value > e.High) {
				t.Fatalf("%+v of %+v", e, c)
			}
		}
		if float64(held) < 0.95*draws-3*math.Sqrt(0.95*0.05*draws) {
			t.Errorf("%+v: %d of %d intervals hold %v", c, held, draws, want)
		}
	}
}

// With scores of few values no threshold has the rate itself: calling 3 is right for a
// tenth of the negatives, which is too many, so that the best is to call 4 alone.
func TestTPRIntervalsHoldWithTies(t *testing.T) {
	rng := newRNG(22)
	draw := func(n int, four float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			switch u := rng.Float64(); {
			case u < four:
				out[i] = 4
			case u < 4*four:
				out[i] = 3
			}
		}
		return out
	}
	held := 0
	for range 400 {
		e, err := TPRInterval(draw(100, 0.2), draw(300, 0.03), 0.05, 0.95)
		must(t, err)
		if e.Low <= 0.2 && 0.2 <= e.High {
			held++
		}
	}
	if held < 370 {
		t.Errorf("%d of 400 intervals hold the rate", held)
	}
}

// A planted signal is seen, the null is not called one, and exchanged roles lose it.
func TestTPRIntervalsSeeAPlantedSignalOfTheRightRole(t *testing.T) {
	rng := newRNG(23)
	member, nonmember := normals(rng, 300, 4), normals(rng, 3000, 0)
	e, err := TPRInterval(member, nonmember, 0.01, 0.95)
	must(t, err)
	if e.Low < 0.8 {
		t.Errorf("four standard deviations: %v", e)
	}
	if e, err = TPRInterval(nonmember, member, 0.01, 0.95); err != nil || e.High > 0.01 {
		t.Errorf("exchanged: %v, %v", e, err)
	}
	seen := 0
	for range 200 {
		e, err := TPRInterval(normals(rng, 200, 0), normals(rng, 400, 0), 0.05, 0.95)
		must(t, err)
		if e.Low > 0.05 {
			seen++
		}
	}
	if seen > 10 {
		t.Errorf("%d of 200 null samples are called better than chance", seen)
	}
}

func TestSixtyNegativesDoNotShowOneInAThousand(t *testing.T) {
	rng := newRNG(24)
	pos, neg := normals(rng, 60, 0), normals(rng, 60, 0)
	e, err := TPRInterval(pos, neg, 0.001, 0.95)
	must(t, err)
	if !math.IsNaN(e.Value) || e.Low != 0 || e.High <= 0 || e.High > 0.5 {
		t.Errorf("%v", e)
	}
	if !CanShowFPR(1000, 0.001) || CanShowFPR(999, 0.001) || !CanShowFPR(20, 0.05) || !CanShowFPR(100, 0.01) {
		t.Error("how many negatives show a rate")
	}
}

func TestTPRIntervalRefusesNonsense(t *testing.T) {
	one := []float64{1}
	for _, c := range []struct {
		pos, neg   []float64
		fpr, level float64
	}{{nil, one, 0.1, 0.95}, {one, nil, 0.1, 0.95}, {[]float64{math.NaN()}, one, 0.1, 0.95}, {one, one, 0, 0.95}, {one, one, 1, 0.95}, {one, one, math.NaN(), 0.95}, {one, one, 0.1, 1}} {
		if _, err := TPRInterval(c.pos, c.neg, c.fpr, c.level); err == nil {
			t.Errorf("%+v is taken", c)
		}
	}
	inf := math.Inf(1)
	if e, err := TPRInterval([]float64{inf, inf}, []float64{-inf, 0}, 0.5, 0.95); err != nil || e.Value != 1 {
		t.Errorf("infinite scores can be ranked: %v, %v", e, err)
	}
}
