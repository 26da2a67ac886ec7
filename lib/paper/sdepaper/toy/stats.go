package toy

// Tests over batches and runs.

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/lethe-ml/lethe/lib/stats"
)

// paperP is the p-value that the paper prints (appendix A.4).
const paperP = 2.11e-54

// alpha is the level of the paper's test.
const alpha = 0.01

// Summary is one contrast on one layer at one epoch, over all seeds.
type Summary struct {
	A, B float64 // mean exact H of the sets
	// Differences A - B of the exact means in per cent of the run's mean B, one number per
	// batch. OverBatches treats all batches of all runs as independent, OverSeeds uses one mean
	// per run.
	OverBatches, OverSeeds stats.Estimate
	Differences            []float64
	Wilcoxon               float64 // p of the signed-rank test over all batches
	WilcoxonBelow          int     // runs whose own signed-rank test has p < 0.05
	Runs                   int
	Sign                   float64        // two-sided p of the sign test
	Above                  stats.Estimate // share of batches with A above B
	// SingleHigher and SingleLower are the shares of single pairs that the paper's test rejects
	// at 0.01, in either direction; Extreme counts those with a p no larger than the paper's.
	SingleHigher, SingleLower   float64
	ExtremeHigher, ExtremeLower int
	// Rest is the difference of the permutation means minus that of the exact means, in the same
	// per cent: the noise of 200 draws.
	Rest stats.Estimate
	// Identity is the mean over sets A of (H of the halves as they stand - exact
	// mean)/exact standard deviation: 0 when the halves are independent.
	Identity stats.Estimate
	// Between is the standard deviation of the exact mean between sets, Within
	// that of the permutations of one set, both in per cent of the mean of B.
	Between, Within float64
}

func summarise(parts []Contrast) Summary {
	s := Summary{Runs: len(parts)}
	var means, rest, identity, a, b, between, within []float64
	pairs := 0
	for _, c := range parts {
		exactA, exactB := mapSets(c.A, exact), mapSets(c.B, exact)
		unit := mean(exactB) / 100
		var own []float64
		for k := range c.A {
			own = append(own, (exactA[k]-exactB[k])/unit)
			rest = append(rest, (c.A[k].Mean-c.B[k].Mean-(exactA[k]-exactB[k]))/unit)
			identity = append(identity, (c.A[k].Identity-c.A[k].Exact)/c.A[k].SD)
			s.SingleHigher += count(c.Higher[k] < alpha)
			s.SingleLower += count(c.Lower[k] < alpha)
			s.ExtremeHigher += int(count(c.Higher[k] <= paperP))
			s.ExtremeLower += int(count(c.Lower[k] <= paperP))
			within = append(within, c.B[k].SD/unit)
			pairs++
		}
		if wilcoxon(own) < 0.05 {
			s.WilcoxonBelow++
		}
		sd, _ := stats.SD(exactB) // of at least two finite values
		between = append(between, sd/unit)
		s.Differences = append(s.Differences, own...)
		means, a, b = append(means, mean(own)), append(a, mean(exactA)), append(b, mean(exactB))
	}
	s.A, s.B, s.Between, s.Within = mean(a), mean(b), mean(between), mean(within)
	s.SingleHigher, s.SingleLower = s.SingleHigher/float64(pairs), s.SingleLower/float64(pairs)
	s.OverBatches = stats.MeanInterval(s.Differences, 0.95, "batches").WithNull(0, stats.NearNull)
	s.OverSeeds = stats.MeanInterval(means, 0.95, "seeds").WithNull(0, stats.NearNull)
	s.Rest = stats.MeanInterval(rest, 0.95, "batches").WithNull(0, stats.NearNull)
	s.Identity = stats.MeanInterval(identity, 0.95, "batches").WithNull(0, stats.NearNull)
	s.Wilcoxon = wilcoxon(s.Differences)
	s.Sign, s.Above = signTest(s.Differences)
	return s
}

func exact(s Set) float64 { return s.Exact }

func mapSets(sets []Set, f func(Set) float64) []float64 {
	out := make([]float64, len(sets))
	for i, s := range sets {
		out[i] = f(s)
	}
	return out
}

func count(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// wilcoxon is the p of the signed-rank test, 1 where all differences are 0.
func wilcoxon(diff []float64) float64 {
	r, err := stats.Wilcoxon(diff)
	if err != nil {
		return 1
	}
	return r.P
}

// signTest is the two-sided sign test and the share of differences above 0 among
// those that are not 0.
func signTest(diff []float64) (p float64, above stats.Estimate) {
	var plus, n int
	for _, d := range diff {
		if d != 0 {
			n++
			plus += int(count(d > 0))
		}
	}
	if n == 0 {
		return 1, stats.Wilson(math.NaN(), 0, 0.95)
	}
	above = stats.Wilson(float64(plus)/float64(n), n, 0.95).WithNull(0.5, stats.NearNull)
	above.Over = "batches"
	tail := distuv.Binomial{N: float64(n), P: 0.5}.CDF(float64(min(plus, n-plus)))
	return min(1, 2*tail), above
}

// permutationTest compares the true batches with random permutations.
type permutationTest struct {
	// Effect is the mean H of the true batches relative to that of the permutations, in per
	// cent; Low and High are the central 95 % of the permutations on the same scale.
	Effect, Low, High float64
	P                 float64 // two-sided, at least 2/(permutations + 1)
}

// poolPermutations pools runs: permutation i of all runs gives one value.
func poolPermutations(observed []float64, permuted [][]float64) permutationTest {
	var r permutationTest
	permutations := make([]float64, len(permuted[0]))
	for s, values := range permuted {
		centre := mean(values)
		r.Effect += 100 * (observed[s]/centre - 1) / float64(len(permuted))
		for i, v := range values {
			permutations[i] += 100 * (v/centre - 1) / float64(len(permuted))
		}
	}
	higher, lower := 1.0, 1.0
	for _, v := range permutations {
		higher += count(v >= r.Effect)
		lower += count(v <= r.Effect)
	}
	r.P = min(1, 2*min(higher, lower)/float64(len(permutations)+1))
	r.Low, _ = stats.Quantile(permutations, 0.025) // finite values
	r.High, _ = stats.Quantile(permutations, 0.975)
	return r
}

func mean(x []float64) float64 {
	m, err := stats.Mean(x)
	if err != nil {
		return math.NaN()
	}
	return m
}
