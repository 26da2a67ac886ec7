package stats

import (
	"fmt"
	"math"
)

// ClusterMeanResult is a mean of values that depend on each other within clusters.
type ClusterMeanResult struct {
	Mean         Estimate `json:"mean"`          // N is the number of clusters
	Error        float64  `json:"error"`         // the cluster-robust standard error
	DesignEffect float64  `json:"design_effect"` // variance with clusters over that of independent values; NaN where all values are equal
	Values       int      `json:"values"`
	Freedom      float64  `json:"freedom"` // degrees of freedom of Student's quantile
}

// ClusterMean returns the mean of x, all values weighing the same, with an interval that holds
// where values of one cluster (an author's questions, a patient's visits) depend on each other in
// any way, and clusters are independent. cluster[i] is the cluster of x[i]; nil makes every value
// a cluster. over is what a cluster is ("authors"). The caller sets null value and direction.
//
// The variance leaves out a cluster at a time,
//
//	v = (G-1)/G sum over clusters c of (u(c)/(n - n(c)))^2,  u(c) = sum over i in c of (x_i - mean)
//
// and the interval is mean -+ t sqrt(v), with Student's t of (sum n(c)^2)^2/sum n(c)^4 - 1 degrees
// of freedom. With clusters of one size that is G-1, and the interval is MeanInterval's over the
// clusters' means. The design effect is v over s^2/n (Kish 1965): 1 if clusters do not matter;
// below 1 if values of one cluster differ more than others do.
//
// It refuses values that are not finite, lengths that do not match, fewer than two clusters, and a
// level outside (0, 1).
func ClusterMean(x []float64, cluster []int, level float64, over string) (ClusterMeanResult, error) {
	if err := checkFinite("ClusterMean", "x", x); err != nil {
		return ClusterMeanResult{}, err
	}
	if err := checkLevel("ClusterMean", level); err != nil {
		return ClusterMeanResult{}, err
	}
	if cluster != nil && len(cluster) != len(x) {
		return ClusterMeanResult{}, checkSameLength("ClusterMean", "x", len(x), "cluster", len(cluster))
	}
	mean, n := meanOf(x), float64(len(x))
	sums, sizes := clusterTotals(x, cluster, mean)
	g := float64(len(sums))
	if g < 2 {
		return ClusterMeanResult{}, fmt.Errorf("stats.ClusterMean: all %d values are in one cluster, want at least 2 clusters", len(x))
	}
	var variance, squares, fourths accumulator
	for c, u := range sums {
		d := u / (n - sizes[c])
		variance.add(d * d)
		squares.add(sizes[c] * sizes[c])
		fourths.add(sizes[c] * sizes[c] * sizes[c] * sizes[c])
	}
	v := (g - 1) / g * variance.value()
	r := ClusterMeanResult{Error: math.Sqrt(v), Values: len(x), DesignEffect: math.NaN()}
	r.Freedom = max(1, squares.value()*squares.value()/fourths.value()-1)
	half := studentQuantile(0.5+level/2, r.Freedom) * r.Error
	r.Mean = Estimate{Value: mean, Low: mean - half, High: mean + half, Level: level, Over: over, N: len(sums)}
	if s := sdOf(x); s > 0 {
		r.DesignEffect = v / (s * s / n)
	}
	return r, nil
}

// clusterTotals returns the sum of x less center and the number of values of each cluster, in the
// order in which clusters appear.
func clusterTotals(x []float64, cluster []int, center float64) (sums, sizes []float64) {
	var totals []accumulator
	at := map[int]int{}
	for i, v := range x {
		k, known := len(totals), false
		if cluster != nil {
			if c, ok := at[cluster[i]]; ok {
				k, known = c, true
			} else {
				at[cluster[i]] = k
			}
		}
		if !known {
			totals, sizes = append(totals, accumulator{}), append(sizes, 0)
		}
		totals[k].add(v - center)
		sizes[k]++
	}
	sums = make([]float64, len(totals))
	for k := range totals {
		sums[k] = totals[k].value()
	}
	return sums, sizes
}
