package stats

import "math"

// ClusterBounded is ClusterInterval for values in [0, 1], such as shares of single documents: the mean
// p with Wilson's interval for as many trials as have the same variance,
//
//	n* = p (1 - p) / v
//
// where v is the variance of the mean, over clusters as in ClusterInterval, and with Student's
// quantile. It stays in [0, 1] and is not symmetric, as few large values among small ones are not.
// Values that are 0 or 1 give Wilson's interval, but for the quantile. Where all values are the same,
// nothing shows their spread, and n* is the number of clusters, or of values without clusters.
//
// It has no interval for a single value or cluster, and no value for values outside [0, 1] and for
// what MeanInterval refuses.
func ClusterBounded(x []float64, of Clusters, level float64, unit string) Estimate {
	e := ClusterInterval(x, of, level, unit)
	for _, v := range x {
		if !(v >= 0 && v <= 1) {
			e.Value, e.Low, e.High = math.NaN(), math.NaN(), math.NaN()
		}
	}
	if !e.HasInterval() {
		return e
	}
	n, freedom, effect := float64(len(x)), float64(len(x)-1), 1.0
	if !of.Trivial() {
		_, v, f := clusterMean(x, of, e.Value)
		freedom, effect = f, v/(varianceOfMean(x, e.Value))
	}
	trials := e.Value * (1 - e.Value) * n / (squaresAbout(x, e.Value) / n) / effect
	quantile := studentQuantile(0.5+level/2, freedom)
	if e.High == e.Low {
		trials, quantile = float64(of.Count(len(x))), normalQuantile(0.5+level/2)
	}
	e.Low, e.High = wilson(e.Value, trials, quantile)
	return e
}
