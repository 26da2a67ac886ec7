package stats

import (
	"errors"
	"math"
)

// MannWhitneyGreater tests whether the values of x are larger than those of y, one-sided. The
// statistic is U of x as in MannWhitney; P is the probability of a U at least as large if both
// come from one distribution.
//
// The null distribution is exact in the same cases as in MannWhitney, and otherwise normal with
// tie and continuity correction, P = 1 - Phi((U - n_x n_y/2 - c)/s), which without ties is SciPy's
// mannwhitneyu with alternative "greater". If all values are equal P is 1. It refuses an empty
// sample and NaN.
func MannWhitneyGreater(x, y []float64) (TestResult, error) {
	err := errors.Join(checkOrdered("MannWhitneyGreater", "x", x), checkOrdered("MannWhitneyGreater", "y", y))
	if err != nil {
		return TestResult{}, err
	}
	bs, m, n := blocks(x, y), len(x), len(y)
	r := TestResult{U: float64(twiceU(bs)) / 2, NX: m, NY: n, Ties: len(bs) < m+n}
	r.Exact = !r.Ties && min(m, n) <= exactMannWhitneyBelow && float64(m)*float64(n) <= exactMannWhitneyPairs
	if r.Exact {
		// P(U >= u) = P(U <= mn - u), because the distribution is symmetric.
		r.P = math.Min(1, sumOf(lowerU(min(m, n), max(m, n), m*n-int(r.U))))
		return r, nil
	}
	if _, high, ok := tiedMannWhitney(bs, m, n); ok {
		r.Exact, r.P = true, high
		return r, nil
	}
	v := mannWhitneyVariance(bs, m, n)
	if !(v > 0) {
		r.P = 1
		return r, nil
	}
	r.P = math.Erfc((r.U-float64(m)*float64(n)/2-continuity(bs))/math.Sqrt(2*v)) / 2
	return r, nil
}

// mannWhitneyVariance returns the variance of U under the null, with ties.
func mannWhitneyVariance(bs []block, m, n int) float64 {
	total, pairs := float64(m+n), float64(m)*float64(n)
	ties := 0.0
	for _, b := range bs {
		ties += tieTerm(b.pos + b.neg)
	}
	return pairs / 12 * (total + 1 - ties/(total*(total-1)))
}
