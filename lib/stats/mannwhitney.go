package stats

import (
	"errors"
	"math"
)

// TestResult is the outcome of a two-sided two-sample test.
type TestResult struct {
	U     float64 `json:"u"` // pairs in which x is larger, ties one half
	P     float64 `json:"p"` // two-sided
	NX    int     `json:"n_x"`
	NY    int     `json:"n_y"`
	Exact bool    `json:"exact"` // P from the exact null distribution
	Ties  bool    `json:"ties"`
}

const (
	exactMannWhitneyBelow = 8          // smaller sample, as in SciPy's "auto"
	exactMannWhitneyPairs = 20_000_000 // memory bound of the exact distribution
)

// MannWhitney tests whether x and y come from one distribution, two-sided. The statistic is U of
// x; U/(n_x n_y) is the AUC of x over y, 1/2 under the null.
//
// The null distribution is exact in two cases: without ties, if the smaller sample has at most 8
// values; with ties, if all assignments of the mid-ranks can be counted (two samples of 50; more
// if few values differ). P is then twice the smaller of P(U <= u) and P(U >= u). Otherwise it is
// normal with tie and continuity correction:
//
//	z = (max(U, n_x n_y - U) - n_x n_y/2 - c) / s,
//	s^2 = n_x n_y/12 (N + 1 - sum (t^3 - t)/(N(N-1))),
//
// with c half of the smallest step of U, and at least 1/2. Differences from SciPy's mannwhitneyu:
// with ties SciPy uses the normal form with c = 1/2 at any size; here, above 2e7 pairs the normal
// form is always used; if all values are equal, P is 1. It refuses an empty sample and NaN.
func MannWhitney(x, y []float64) (TestResult, error) {
	err := errors.Join(checkOrdered("MannWhitney", "x", x), checkOrdered("MannWhitney", "y", y))
	if err != nil {
		return TestResult{}, err
	}
	bs, m, n := blocks(x, y), len(x), len(y)
	u2 := twiceU(bs)
	r := TestResult{U: float64(u2) / 2, NX: m, NY: n, Ties: len(bs) < m+n}
	extreme := math.Max(r.U, float64(m)*float64(n)-r.U)
	r.Exact = !r.Ties && min(m, n) <= exactMannWhitneyBelow && float64(m)*float64(n) <= exactMannWhitneyPairs
	if r.Exact {
		r.P = exactMannWhitney(m, n, m*n-int(extreme))
		return r, nil
	}
	if low, high, ok := tiedMannWhitney(bs, m, n); ok {
		r.Exact, r.P = true, math.Min(1, 2*math.Min(low, high))
		return r, nil
	}
	r.P = normalMannWhitney(bs, m, n, extreme)
	return r, nil
}

// exactMannWhitney returns 2 P(U <= u), cut to 1.
func exactMannWhitney(m, n, u int) float64 {
	return math.Min(1, 2*sumOf(lowerU(min(m, n), max(m, n), u)))
}

// normalMannWhitney returns the two-sided normal P of the larger U.
func normalMannWhitney(bs []block, m, n int, extreme float64) float64 {
	pairs, v := float64(m)*float64(n), mannWhitneyVariance(bs, m, n)
	z := (extreme - pairs/2 - continuity(bs)) / math.Sqrt(v)
	if !(v > 0) || z <= 0 {
		return 1
	}
	return normalTwoSided(z)
}

// tieTerm returns t^3 - t.
func tieTerm(t int) float64 {
	f := float64(t)
	return float64(f * (f - 1) * (f + 1))
}
