package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// TPRInterval is TPRAtFPR with an interval, for scores where higher means positive. The
// interval holds the largest true positive rate that any threshold reaches in the
// populations of the two samples without calling more than a share fpr of the negatives,
// with at least the given probability, whatever the laws of the scores. Two things are
// unknown and both are in it: where the threshold lies, which the negatives bound by
// their order,
//
//	S(lo) <= t <= S(hi+1),  P(K < lo) <= a, P(K > hi) <= a, K binomial(n, fpr)
//
// with S(k) the k-th largest of the n negatives, and how many positives lie above it,
// which Clopper and Pearson's bounds (1934) answer at level a; a is a quarter of what
// level leaves.
//
// Fewer than 1/fpr negatives cannot show the rate: one of them alone is more than a share
// fpr. The value is NaN then. The interval holds all the same; its upper end is what can
// be said. It refuses an empty sample, NaN, an fpr outside (0, 1) and a level outside
// (0, 1).
func TPRInterval(pos, neg []float64, fpr, level float64) (Estimate, error) {
	if err := checkScores("TPRInterval", pos, neg); err != nil {
		return Estimate{}, err
	}
	if err := checkLevel("TPRInterval", level); err != nil {
		return Estimate{}, err
	}
	if !(fpr > 0 && fpr < 1) {
		return Estimate{}, fmt.Errorf("stats.TPRInterval: fpr is %v, want 0 < fpr < 1", fpr)
	}
	e := Estimate{Value: math.NaN(), Level: level, Over: "records", N: len(pos) + len(neg)}
	if CanShowFPR(len(neg), fpr) {
		var err error
		if e.Value, err = TPRAtFPR(pos, neg, fpr); err != nil {
			return Estimate{}, err
		}
	}
	a := (1 - level) / 4
	lo, hi := binomialRange(len(neg), fpr, a)
	down := slices.Sorted(slices.Values(neg))
	slices.Reverse(down)
	caught := func(called func(score float64) bool) int {
		n := 0
		for _, s := range pos {
			if called(s) {
				n++
			}
		}
		return n
	}
	e.High = 1
	if hi < len(down) {
		e.High = shareUpperBound(caught(func(s float64) bool { return s >= down[hi] }), len(pos), a)
	}
	if lo > 0 {
		e.Low = shareLowerBound(caught(func(s float64) bool { return s > down[lo-1] }), len(pos), a)
	}
	return e, nil
}

// CanShowFPR reports whether n negatives can show a false positive rate: at least one of them
// may be called.
func CanShowFPR(n int, fpr float64) bool { return float64(n)*fpr >= 1-1e-9 }

// binomialRange are the counts lo and hi of n trials with P(K < lo) <= a and
// P(K > hi) <= a, as near as may be.
func binomialRange(n int, p, a float64) (lo, hi int) {
	k := distuv.Binomial{N: float64(n), P: p}
	lo = sort.Search(n, func(i int) bool { return k.CDF(float64(i)) > a })
	hi = sort.Search(n, func(i int) bool { return 1-k.CDF(float64(i)) <= a })
	return lo, hi
}

// shareLowerBound and shareUpperBound are Clopper and Pearson's bounds on a share, k of n, each missed with
// probability a at most.
func shareLowerBound(k, n int, a float64) float64 {
	if k == 0 {
		return 0
	}
	return distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(a)
}

func shareUpperBound(k, n int, a float64) float64 { return 1 - shareLowerBound(n-k, n, a) }
