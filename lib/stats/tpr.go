// The true positive rate at a low false positive rate, with an interval.

package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// TPRInterval is TPRAtFPR with an interval, for scores where higher means positive. With at least
// the given probability, whatever the distributions of the scores, the interval contains the
// largest true positive rate of any threshold whose false positive rate in the population is at
// most fpr. It covers two unknowns. The first is the threshold t, which the order of the negatives
// bounds,
//
//	S(lo) <= t <= S(hi+1),  P(K < lo) <= a, P(K > hi) <= a, K binomial(n, fpr)
//
// with S(k) the k-th largest of the n negatives. The second is the share of positives above it,
// which Clopper and Pearson's bounds (1934) cover at level a; a is a quarter of 1 - level.
//
// With fewer than 1/fpr negatives the rate cannot be shown: one false positive is more than a
// share fpr. The value is NaN then, and the interval still holds. It refuses an empty sample, NaN,
// an fpr outside (0, 1) and a level outside (0, 1).
func TPRInterval(pos, neg []float64, fpr, level float64) (Estimate, error) {
	if err := checkTPR("TPRInterval", pos, neg, fpr, level); err != nil {
		return Estimate{}, err
	}
	a := (1 - level) / 4
	lo, hi := binomialRange(len(neg), fpr, a)
	bounds := tprBounds{lo, hi, func(k int) float64 { return shareLowerBound(k, len(pos), a) }, func(k int) float64 { return shareUpperBound(k, len(pos), a) }}
	return bounds.estimate(pos, neg, fpr, level)
}

func checkTPR(fn string, pos, neg []float64, fpr, level float64) error {
	if err := checkScores(fn, pos, neg); err != nil {
		return err
	}
	if err := checkLevel(fn, level); err != nil {
		return err
	}
	if !(fpr > 0 && fpr < 1) {
		return fmt.Errorf("stats.%s: fpr is %v, want 0 < fpr < 1", fn, fpr)
	}
	return nil
}

// tprBounds holds what bounds a true positive rate: the places of the negatives between which the
// threshold lies, and the bounds on the share of positives of which k are called.
type tprBounds struct {
	lo, hi     int
	low, upper func(k int) float64
}

// estimate returns the rate with its interval.
func (b tprBounds) estimate(pos, neg []float64, fpr, level float64) (Estimate, error) {
	e := Estimate{Value: math.NaN(), Level: level, Over: "records", N: len(pos) + len(neg)}
	if CanShowFPR(len(neg), fpr) {
		var err error
		if e.Value, err = TPRAtFPR(pos, neg, fpr); err != nil {
			return Estimate{}, err
		}
	}
	down := slices.Sorted(slices.Values(neg))
	slices.Reverse(down)
	countCalled := func(called func(score float64) bool) int {
		n := 0
		for _, s := range pos {
			if called(s) {
				n++
			}
		}
		return n
	}
	e.High = 1
	if b.hi < len(down) {
		e.High = b.upper(countCalled(func(s float64) bool { return s >= down[b.hi] }))
	}
	if b.lo > 0 {
		e.Low = b.low(countCalled(func(s float64) bool { return s > down[b.lo-1] }))
	}
	return e, nil
}

// CanShowFPR reports whether n negatives are enough for a false positive rate: at least one of
// them may be called.
func CanShowFPR(n int, fpr float64) bool { return float64(n)*fpr >= 1-1e-9 }

// binomialRange returns the counts lo and hi of n trials closest to each other with P(K < lo) <= a
// and P(K > hi) <= a.
func binomialRange(n int, p, a float64) (lo, hi int) {
	k := distuv.Binomial{N: float64(n), P: p}
	lo = sort.Search(n, func(i int) bool { return k.CDF(float64(i)) > a })
	hi = sort.Search(n, func(i int) bool { return 1-k.CDF(float64(i)) <= a })
	return lo, hi
}

// shareLowerBound and shareUpperBound return Clopper and Pearson's bounds on a share, k of n, each
// missed with probability at most a.
func shareLowerBound(k, n int, a float64) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(a)
}

func shareUpperBound(k, n int, a float64) float64 { return 1 - shareLowerBound(n-k, n, a) }
