package stats

import (
	"math"
	"testing"
)

// first drops the value of a call and keeps the error.
func first[T any](_ T, err error) error { return err }

func TestBadInputIsNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good, bad, rng := []float64{1, 2, 3}, []float64{1, 2, 3, nan}, newRNG(1)
	stat := func([]int) float64 { return 1 }
	three := func(_, _, _ []float64, err error) error { return err }
	two := func(_, _ float64, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{first(AUC(bad, good)), "stats.AUC: pos[3] is NaN"},
		{first(AUC(good, nil)), "stats.AUC: neg is empty"},
		{first(AUC(nil, bad)), "stats.AUC: pos is empty\nstats.AUC: neg[3] is NaN"},
		{first(AUCBootstrap(good, good, 0.95, 38, rng)), "stats.AUCBootstrap: reps is 38, an interval of level 0.95 needs at least 39"},
		{first(AUCBootstrap(good, good, 0.95, 39, nil)), "stats.AUCBootstrap: rng is nil"},
		{first(AUCBootstrap(bad, good, 0.95, 9, rng)), "stats.AUCBootstrap: pos[3] is NaN"},
		{first(AUCBootstrap(good[:1], good, 0.95, 39, rng)), "stats.AUCBootstrap: pos has 1 value, a bootstrap needs at least 2"},
		{first(AUCBootstrap(good, good[:1], 0.95, 39, rng)), "stats.AUCBootstrap: neg has 1 value"},
		{first(AdvantageInterval(good, good[:1], 0.95, 39, rng)), "stats.AdvantageInterval: neg has 1 value"},
		{first(AUCOdds(good, bad, 0.95)), "stats.AUCOdds: neg[3] is NaN"},
		{first(AUCOdds(good, good, 1)), "stats.AUCOdds: level is 1"},
		{first(DeLong(good, bad, 0.95)), "stats.DeLong: neg[3] is NaN"},
		{first(DeLong(good, good, 1)), "stats.DeLong: level is 1"},
		{first(DeLong(good, good, nan)), "stats.DeLong: level is NaN"},
		{three(ROC(nil, good)), "stats.ROC: pos is empty"},
		{first(TPRAtFPR(good, bad, 0.1)), "stats.TPRAtFPR: neg[3] is NaN"},
		{first(TPRAtFPR(good, good, -0.1)), "stats.TPRAtFPR: fpr is -0.1"},
		{first(TPRAtFPR(good, good, nan)), "stats.TPRAtFPR: fpr is NaN"},
		{first(Advantage(good, nil)), "stats.Advantage: neg is empty"},
		{first(AdvantageInterval(good, good, 0, 9, rng)), "stats.AdvantageInterval: level is 0"},
		{first(AdvantageInterval(good, good, 0.99, 198, rng)), "stats.AdvantageInterval: reps is 198, an interval of level 0.99 needs at least 199"},
		{first(MannWhitney(nil, good)), "stats.MannWhitney: x is empty"},
		{first(MannWhitney(good, bad)), "stats.MannWhitney: y[3] is NaN"},
		{first(Wilcoxon(nil)), "stats.Wilcoxon: diff is empty"},
		{first(Wilcoxon(bad)), "stats.Wilcoxon: diff[3] is NaN"},
		{first(Wilcoxon([]float64{0, 0})), "stats.Wilcoxon: diff has only zeros"},
		{first(Mean(nil)), "stats.Mean: x is empty"},
		{first(Mean([]float64{inf})), "stats.Mean: x[0] is +Inf"},
		{first(SD([]float64{1})), "stats.SD: x has 1 value"},
		{first(SD(bad)), "stats.SD: x[3] is NaN"},
		{first(PopSD(bad)), "stats.PopSD: x[3] is NaN"},
		{first(Median(bad)), "stats.Median: x[3] is NaN"},
		{first(Quantile(bad, 0.5)), "stats.Quantile: x[3] is NaN"},
		{first(Quantile(good, 1.1)), "stats.Quantile: q is 1.1"},
		{first(Quantile(good, nan)), "stats.Quantile: q is NaN"},
		{first(Pearson(good, bad)), "stats.Pearson: y[3] is NaN"},
		{first(Pearson(good, []float64{1})), "stats.Pearson: x has 3 values, y has 1"},
		{first(Pearson([]float64{.1, .1, .1}, good)), "stats.Pearson: x is constant (0.1)"},
		{first(Pearson(good, []float64{.1, .1, .1})), "stats.Pearson: y is constant (0.1)"},
		{first(AdjustedRandIndex(nil, []int{1})), "stats.AdjustedRandIndex: a or b is empty"},
		{first(AdjustedRandIndex([]int{1, 2}, []int{1})), "stats.AdjustedRandIndex: a has 2 values, b has 1"},
		{first(JensenShannon(bad, good, 5)), "stats.JensenShannon: x[3] is NaN"},
		{first(JensenShannon(good, []float64{inf}, 5)), "stats.JensenShannon: y[0] is +Inf"},
		{first(JensenShannon(good, good, 0)), "stats.JensenShannon: bins is 0"},
		{first(JensenShannon([]float64{-1e308}, []float64{1e308}, 5)), "stats.JensenShannon: the range"},
		{two(PercentileInterval(bad, 0.9)), "stats.PercentileInterval: samples[3] is NaN"},
		{two(PercentileInterval(good, 0)), "stats.PercentileInterval: level is 0"},
		{two(PercentileInterval(good, 0.9)), "samples has 3 values, an interval of level 0.9 needs at least 19"},
		{two(KSUniform(nil)), "stats.KSUniform: p is empty"},
		{two(KSUniform([]float64{0.5, 1.5})), "stats.KSUniform: p[1] is 1.5"},
		{first(BCa(1, 9, rng, 0.95, stat)), "stats.BCa: n is 1"},
		{first(BCa(5, 9, rng, 0.95, nil)), "stats.BCa: n is 5 (want at least 2), stat is nil: true"},
		{first(BCa(5, 1, rng, 0.95, stat)), "stats.BCa: reps is 1, an interval of level 0.95 needs at least 39"},
		{first(BCa(5, 39, nil, 0.95, stat)), "stats.BCa: rng is nil"},
		{first(BCa(5, 9, rng, 2, stat)), "stats.BCa: level is 2"},
		{first(BCa(5, 39, rng, 0.95, func([]int) float64 { return nan })), "stats.BCa: value on resample[0] is NaN"},
		{two(bcaInterval(Bootstrap(4000, 50, rng, outlier), jackknife(4000, outlier), outlier(indices(4000)), 1-1e-13)), "too skewed for a level"},
		{first(BCa(5, 50, rng, 0.95, onlyWhole(5))), "stats.BCa: all 50 resamples lie on one side"},
	} {
		refuses(t, c.err, c.want)
	}
	if Bootstrap(0, 5, rng, stat) != nil || Bootstrap(5, 0, rng, stat) != nil || Bootstrap(5, 5, nil, stat) != nil || Bootstrap(5, 5, rng, nil) != nil {
		t.Error("Bootstrap ran on input that it cannot use")
	}
}

// outlier is the mean of records of which one is a million times the others.
func outlier(idx []int) float64 {
	sum := 0.0
	for _, i := range idx {
		sum += 1e-3 * float64(i%7)
		if i == 0 {
			sum += 1e6
		}
	}
	return sum / float64(len(idx))
}

// onlyWhole returns a statistic that is 1 on the records in order, and on any
// resample a value below that depends on its first index.
func onlyWhole(n int) func([]int) float64 {
	return func(idx []int) float64 {
		for i, j := range idx {
			if i != j {
				return -float64(idx[0] + 1)
			}
		}
		return float64(len(idx) / n)
	}
}

// The ends of an interval of 95 % are the smallest and the largest of 39 values.
func TestMinResamplesReachTheExtremes(t *testing.T) {
	for level, want := range map[float64]int{0.5: 3, 0.9: 19, 0.95: 39, 0.99: 199, 0.999: 1999, 0: 0, 1: 0, math.NaN(): 0} {
		if got := MinResamples(level); got != want {
			t.Errorf("level %v needs %d resamples, expected %d", level, got, want)
		}
	}
}

func TestWideningOfNoCoverageIsNotANumber(t *testing.T) {
	for _, c := range [][2]float64{{0, 0.9}, {0.9, 0}, {1, 0.9}, {0.9, 1}, {2, 0.9}, {0.9, 2}, {math.NaN(), 0.9}, {0.9, math.Inf(1)}} {
		if w := Widening(c[0], c[1]); !math.IsNaN(w) {
			t.Errorf("from %v to %v: %v", c[0], c[1], w)
		}
	}
}

func TestNormalScoresOfValuesThatAreNotFiniteAreNotNumbers(t *testing.T) {
	got := NormalScores([]float64{1, math.Inf(1), 2, math.Inf(-1), math.NaN()})
	if !math.IsNaN(got[1]) || !math.IsNaN(got[3]) || !math.IsNaN(got[4]) || !(got[0] < got[2]) {
		t.Error(got)
	}
}
