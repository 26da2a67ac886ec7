// True positive rates of clustered records, at a low false positive rate.

package stats

import (
	"errors"
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// ClusterTPRInterval is TPRInterval for records in clusters. Both binomial distributions, of the
// negatives above the threshold and of the positives that are called, have as many trials as there
// are effective clusters in the worst case, in which all records of a cluster are called or none is
// (Clusters.Effective); counts are scaled by the same factor (Korn and Graubard 1998 use such counts
// that are no whole numbers). Few records decide a low rate, so that a design effect of their own is
// not estimated, and the interval is conservative where records of a cluster differ.
//
// If no two records share a cluster it is TPRInterval, and with every record copied that of the
// originals. It refuses what TPRInterval refuses, and clusters of another number of records.
func ClusterTPRInterval(pos, neg []float64, posOf, negOf Clusters, fpr, level float64, unit string) (Estimate, error) {
	const fn = "ClusterTPRInterval"
	err := errors.Join(checkTPR(fn, pos, neg, fpr, level), posOf.check(fn, "pos", len(pos)), negOf.check(fn, "neg", len(neg)))
	if err != nil {
		return Estimate{}, err
	}
	if posOf.Trivial(negOf) {
		return TPRInterval(pos, neg, fpr, level)
	}
	a, positives, negatives := (1-level)/4, posOf.Effective(len(pos)), negOf.Effective(len(neg))
	scale := positives / float64(len(pos))
	low := func(k int) float64 { return shareLowerBoundOf(float64(k)*scale, positives, a) }
	upper := func(k int) float64 { return 1 - shareLowerBoundOf(float64(len(pos)-k)*scale, positives, a) }
	lo, hi := effectiveRange(len(neg), negatives, fpr, a)
	e, err := tprBounds{lo, hi, low, upper}.estimate(pos, neg, fpr, level)
	s := sumByCluster([]part{{residuals: pos, of: posOf}, {residuals: neg, of: negOf}})
	return e.over(unit, s, 0, 0, 0), err
}

// shareLowerBoundOf is shareLowerBound for numbers that need not be whole.
func shareLowerBoundOf(k, n, a float64) float64 {
	if k <= 0 {
		return 0
	}
	return distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(a)
}

// effectiveRange is binomialRange for n records that are worth fewer trials, which need not be a whole
// number: the counts lo and hi of trials closest to each other with P(K < lo) <= a and P(K > hi) <= a,
// where P(K >= k) is the incomplete beta function I_p(k, trials-k+1), as places of records, rounded
// away from each other.
func effectiveRange(n int, trials, p, a float64) (lo, hi int) {
	above := func(k int) float64 { // P(K > k)
		count := float64(k + 1)
		if count > trials {
			return 0
		}
		return distuv.Beta{Alpha: count, Beta: trials - count + 1}.CDF(p)
	}
	whole, each := int(trials), float64(n)/trials
	lo = sort.Search(whole, func(k int) bool { return 1-above(k) > a })
	hi = sort.Search(whole, func(k int) bool { return above(k) <= a })
	return int(float64(lo)*each + 1e-9), min(n, int(math.Ceil(float64(hi)*each-1e-9)))
}
