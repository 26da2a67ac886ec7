// The AUC of clustered records: the variance of Obuchowski (1997).

package stats

import (
	"errors"
	"math"
	"slices"
	"sort"
)

// ClusterAUC is DeLong for records in clusters: the AUC with the cluster-robust interval of
// Obuchowski (1997, "Nonparametric analysis of clustered ROC curve data", section 2). Its structural
// components are DeLong's placements V10 and V01, less the AUC, summed by cluster. Members and
// non-members may share clusters; the variance then has their covariance. unit names the clusters
// in the estimate, whose N is their number.
//
// The interval is that of the logarithm of the odds, log(AUC/(1-AUC)) -+ t sqrt(var)/(AUC (1-AUC)), with
// Student's t. Where the AUC is 0 or 1 the bound of DeLong applies to k pairs of clusters, each used
// once, and where the variance is 0 Wilson's for k trials:
//
//	k = min(clusters of members, clusters of non-members, half of all clusters)
//
// A side with a single cluster has no interval (Low and High are NaN): nothing shows how clusters
// differ. If no two records share a cluster it is DeLong's interval, with unit "records".
//
// Differences from the paper:
//
//  1. cluster sums are divided by the number of records outside the cluster, as the jackknife does; the
//     paper multiplies all by I/(I-1). Both are the same for clusters of one size. Large clusters
//     among small ones need it;
//  2. Student's quantile in place of the normal one, with the degrees of freedom of clusterVariance, and
//     odds in place of the AUC itself, whose interval is too short near 0 and 1. With every record copied
//     the standard error is that of the originals, and the interval another than DeLong's.
//
// In simulation it holds an AUC up to 0.9 in 92 to 98 of 100 cases (6 to 50 clusters a side,
// correlations within clusters up to 0.8), and one of 0.98 in 88 of 100 where the correlation is 0.8.
//
// It refuses what DeLong refuses, and clusters of another number of records.
func ClusterAUC(pos, neg []float64, posOf, negOf Clusters, level float64, unit string) (Estimate, error) {
	err := errors.Join(posOf.check("ClusterAUC", "pos", len(pos)), negOf.check("ClusterAUC", "neg", len(neg)))
	if err != nil {
		return Estimate{}, err
	}
	e, err := DeLong(pos, neg, level)
	if err != nil || posOf.Trivial(negOf) {
		return e, err
	}
	above, below := placements(pos, neg)
	for i := range above {
		above[i] -= e.Value
	}
	for j := range below {
		below[j] -= e.Value
	}
	s := sumByCluster([]part{{residuals: above, of: posOf}, {residuals: below, of: negOf}})
	v, freedom := clusterVariance(s, []float64{1, 1})
	independent := delongVariance(blocks(pos, neg), e.Value, len(pos), len(neg))
	e = e.over(unit, s, v, independent, freedom)
	e.Low, e.High = clusterAUCInterval(e.Value, v, freedom, s, level)
	return e, nil
}

// over returns the estimate of s, with the effect of its clusters.
func (e Estimate) over(unit string, s *clusterSums, v, independent, freedom float64) Estimate {
	c := Clustered{Smallest: s.smallest()}
	for _, n := range s.n {
		c.Records += n
	}
	if v > 0 && independent > 0 && !math.IsInf(v/independent, 0) {
		c.DesignEffect, c.Freedom = v/independent, freedom
	}
	e.Over, e.N, e.Clustered = unit, s.all, &c
	return e
}

// clusterAUCInterval returns the interval of an AUC, NaN where a side has one cluster.
func clusterAUCInterval(auc, v, freedom float64, s *clusterSums, level float64) (low, high float64) {
	k := min(s.smallest(), s.all/2)
	switch {
	case s.smallest() < 2:
		return math.NaN(), math.NaN()
	case auc == 0 || auc == 1:
		width := 1 - math.Pow((1-level)/2, 1/float64(k))
		return math.Max(0, auc-width), math.Min(1, auc+width)
	case v == 0:
		return wilson(auc, float64(k), normalQuantile(0.5+level/2))
	}
	return oddsInterval(auc, v, freedom, level)
}

// placements returns DeLong's V10 of every positive, the share of negatives below it, and V01 of
// every negative, the share of positives above it. Ties count one half.
func placements(pos, neg []float64) (above, below []float64) {
	p, n := slices.Sorted(slices.Values(pos)), slices.Sorted(slices.Values(neg))
	above, below = make([]float64, len(pos)), make([]float64, len(neg))
	for i, v := range pos {
		above[i] = shareBelowOf(n, v)
	}
	for j, v := range neg {
		below[j] = 1 - shareBelowOf(p, v)
	}
	return above, below
}

// shareBelowOf returns the share of sorted values below v, those equal to it counting one half.
func shareBelowOf(sorted []float64, v float64) float64 {
	first := sort.SearchFloat64s(sorted, v)
	equal := sort.Search(len(sorted)-first, func(i int) bool { return sorted[first+i] > v })
	return (float64(first) + float64(equal)/2) / float64(len(sorted))
}
