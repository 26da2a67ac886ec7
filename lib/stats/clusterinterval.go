// Means, differences and shares of clustered values, with their intervals.

package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ClusterInterval is MeanInterval for values in clusters: the mean of all values, each counting
// once, with Student's interval from the variance and the degrees of freedom of clusterVariance.
// unit names the clusters. For the difference of two models on the same records pass the
// differences.
//
// If no two values share a cluster it is MeanInterval over "records". A single cluster gives a mean
// without an interval, as a single value does. It refuses what MeanInterval refuses in the same way,
// and has no value if there is another number of clusters than of values.
func ClusterInterval(x []float64, of Clusters, level float64, unit string) Estimate {
	e := MeanInterval(x, level, "records")
	if of.Trivial() || !knownInterval(e, x, of) {
		return e.unlessMismatched(x, of)
	}
	s, v, freedom := clusterMean(x, of, e.Value)
	e = e.over(unit, s, v, squaresAbout(x, e.Value)/float64(len(x)-1)/float64(len(x)), freedom)
	e.Low, e.High = studentEnds(e.Value, v, freedom, level, s)
	return e
}

// clusterMean returns the cluster sums of values less their mean, with their variance.
func clusterMean(x []float64, of Clusters, mean float64) (s *clusterSums, v, freedom float64) {
	s = sumByCluster([]part{{residuals: subtractMean(x, mean), of: of}})
	v, freedom = clusterVariance(s, []float64{1})
	return s, v, freedom
}

func subtractMean(x []float64, mean float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = v - mean
	}
	return out
}

// studentEnds returns Student's interval; NaN where a part has one cluster.
func studentEnds(value, v, freedom, level float64, s *clusterSums) (low, high float64) {
	switch {
	case s.smallest() < 2:
		return math.NaN(), math.NaN()
	case v == 0:
		return value, value
	}
	half := studentQuantile(0.5+level/2, freedom) * math.Sqrt(v)
	return value - half, value + half
}

// knownInterval reports whether an estimate of values has an interval that clusters can replace.
func knownInterval(e Estimate, x []float64, of Clusters) bool {
	return e.HasInterval() && len(of) == len(x)
}

// unlessMismatched returns e, and nothing known if there are clusters of another number of values.
func (e Estimate) unlessMismatched(x []float64, of Clusters) Estimate {
	if of != nil && len(of) != len(x) {
		e.Value, e.Low, e.High = math.NaN(), math.NaN(), math.NaN()
	}
	return e
}

// ClusterPositive is PositiveMean for values in clusters, with the standard error of
// clusterVariance and, for Hall's upper end, the skewness of the jackknife's pseudo-values of the
// G clusters,
//
//	m + (G-1) u(c)/(n - n(c)),
//
// which are the means of the clusters if these have one size. It treats what cannot be computed as
// ClusterInterval does.
func ClusterPositive(x []float64, of Clusters, level float64, unit string) Estimate {
	e := PositiveMean(x, level, "records")
	if of.Trivial() || !knownInterval(e, x, of) || math.IsInf(e.High, 0) {
		return e.unlessMismatched(x, of)
	}
	scale := Binade(slices.Max(x))
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Ldexp(v, -scale)
	}
	m := meanOf(y)
	s, v, freedom := clusterMean(y, of, m)
	e = e.over(unit, s, v, squaresAbout(y, m)/float64(len(x)-1)/float64(len(x)), freedom)
	switch {
	case s.all < 2:
		e.Low, e.High = math.NaN(), math.NaN()
		return e
	case v == 0:
		e.Low, e.High = e.Value, e.Value
		return e
	}
	g, pseudo := float64(s.all), make([]float64, s.all)
	for c, u := range s.sums[0] {
		pseudo[c] = m + float64((g-1)*u/float64(s.n[0]-s.sizes[0][c]))
	}
	t, se := studentQuantile(0.5+level/2, freedom), math.Sqrt(v)
	factor := math.Exp(t * se / m)
	e.Low, e.High = math.Ldexp(m/factor, scale), math.Ldexp(max(m*factor, m+float64(se*hallUpper(t, skewness(pseudo), g))), scale)
	return e
}

// ClusterDifference returns the mean of a less that of b, two samples whose values are in clusters
// that both may share, with Student's interval from clusterVariance. If no two values share a
// cluster the variance is that of Welch's t test, with Satterthwaite's degrees of freedom. A sample
// with one cluster gives no interval. It refuses an empty sample, values that are not finite, a
// level outside (0, 1) and clusters of another number of values.
func ClusterDifference(a, b []float64, aOf, bOf Clusters, level float64, unit string) (Estimate, error) {
	const fn = "ClusterDifference"
	err := errors.Join(checkFinite(fn, "a", a), checkFinite(fn, "b", b), checkLevel(fn, level), aOf.check(fn, "a", len(a)), bOf.check(fn, "b", len(b)))
	if err != nil {
		return Estimate{}, err
	}
	meanA, meanB := meanOf(a), meanOf(b)
	s := sumByCluster([]part{{residuals: subtractMean(a, meanA), of: aOf}, {residuals: subtractMean(b, meanB), of: bOf}})
	v, freedom := clusterVariance(s, []float64{1, -1})
	e := Estimate{Value: meanA - meanB, Level: level}
	e = e.over(unit, s, v, varianceOfMean(a, meanA)+varianceOfMean(b, meanB), freedom)
	e.Low, e.High = studentEnds(e.Value, v, freedom, level, s)
	return e, nil
}

// varianceOfMean returns s^2/n of independent values; NaN for one value.
func varianceOfMean(x []float64, mean float64) float64 {
	n := float64(len(x))
	return squaresAbout(x, mean) / (n - 1) / n
}

// ClusterShare is Wilson for records in clusters: the mean of the shares of several samples of
// records for which something holds (one sample: its share), with Wilson's interval for an effective
// number of trials and Student's quantile (Korn and Graubard 1998 do so for Clopper and Pearson's),
//
//	n* = k (1 + (n/k - 1)/D),  at most n
//
// for k samples of n records together and the design effect D. Where nothing varies within a sample
// D is unknown, and n* is the effective number of clusters in the worst case, in which all records
// of a cluster are alike (Clusters.Effective). If no two records share a cluster it is Wilson's over
// "records". A sample with a single cluster has no interval. It refuses an empty sample, a level
// outside (0, 1) and clusters of another number of records.
func ClusterShare(holds [][]bool, of []Clusters, level float64, unit string) (Estimate, error) {
	const fn = "ClusterShare"
	if err := checkLevel(fn, level); err != nil {
		return Estimate{}, err
	}
	if len(holds) == 0 {
		return Estimate{}, fmt.Errorf("stats.%s: there is no sample", fn)
	}
	if err := checkSameLength(fn, "holds", len(holds), "of", len(of)); err != nil {
		return Estimate{}, err
	}
	parts, weights, n, share, independent, worst := make([]part, len(holds)), make([]float64, len(holds)), 0, 0.0, 0.0, math.Inf(1)
	k := float64(len(holds))
	for i, h := range holds {
		x := zeroOne(h)
		if err := errors.Join(checkFinite(fn, "holds", x), of[i].check(fn, "holds", len(x))); err != nil {
			return Estimate{}, err
		}
		mean := meanOf(x)
		parts[i], weights[i] = part{residuals: subtractMean(x, mean), of: of[i]}, 1/k
		n, share, independent = n+len(x), share+mean/k, independent+varianceOfMean(x, mean)/k/k
		worst = min(worst, of[i].Effective(len(x)))
	}
	e := Wilson(share, n, level)
	if of[0].Trivial(of[1:]...) {
		return e, nil
	}
	s := sumByCluster(parts)
	v, freedom := clusterVariance(s, weights)
	e = e.over(unit, s, v, independent, freedom)
	trials, quantile := min(float64(n), k*worst), normalQuantile(0.5+level/2)
	if d := e.Clustered.DesignEffect; d > 0 {
		trials, quantile = min(float64(n), k*(1+(float64(n)/k-1)/d)), studentQuantile(0.5+level/2, freedom)
	}
	e.Low, e.High = wilson(share, trials, quantile)
	if s.smallest() < 2 {
		e.Low, e.High = math.NaN(), math.NaN()
	}
	return e, nil
}

func zeroOne(holds []bool) []float64 {
	out := make([]float64, len(holds))
	for i, h := range holds {
		if h {
			out[i] = 1
		}
	}
	return out
}
