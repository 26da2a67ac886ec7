// The jackknife over clusters.

package stats

import (
	"fmt"
	"math"
)

// JackknifeInterval returns stat on n values in clusters, with Student's interval from the jackknife
// that leaves out one of G clusters at a time:
//
//	v = (G-1)/G sum over clusters (stat without the cluster - mean of these)^2,  G-1 degrees of freedom
//
// For a mean of clusters of one size it is ClusterInterval. nil makes every value a cluster. stat is
// smooth, as ranks' correlations and means are, and medians are not; it must not keep or change the
// indices. unit names the clusters. It refuses clusters of another number of values, fewer than two
// clusters, a level outside (0, 1), and errors of stat or values of it that are not finite.
func JackknifeInterval(n int, of Clusters, level float64, unit string, stat func(idx []int) (float64, error)) (Estimate, error) {
	const fn = "JackknifeInterval"
	if err := checkLevel(fn, level); err != nil {
		return Estimate{}, err
	}
	if err := of.check(fn, "the values", n); err != nil {
		return Estimate{}, err
	}
	if of == nil {
		of = indices(n)
	}
	members := of.Members()
	g := len(members)
	if g < 2 || stat == nil {
		return Estimate{}, fmt.Errorf("stats.%s: %d clusters (want at least 2), stat is nil: %t", fn, g, stat == nil)
	}
	value, err := stat(indices(n))
	if err != nil {
		return Estimate{}, fmt.Errorf("stats.%s: %w", fn, err)
	}
	without, err := withoutEach(of, members, stat)
	if err != nil {
		return Estimate{}, fmt.Errorf("stats.%s: %w", fn, err)
	}
	if err := checkFinite(fn, "value", append(without, value)); err != nil {
		return Estimate{}, err
	}
	freedom := float64(g - 1)
	v := freedom / float64(g) * squaresAbout(without, meanOf(without))
	half := studentQuantile(0.5+level/2, freedom) * math.Sqrt(v)
	return Estimate{Value: value, Low: value - half, High: value + half, Level: level, Over: unit, N: g}, nil
}

// withoutEach returns stat without each cluster in turn.
func withoutEach(of Clusters, members [][]int, stat func(idx []int) (float64, error)) ([]float64, error) {
	out, idx := make([]float64, len(members)), make([]int, 0, len(of))
	for g, left := range members {
		idx = idx[:0]
		for i, k := range of {
			if k != of[left[0]] {
				idx = append(idx, i)
			}
		}
		v, err := stat(idx)
		if err != nil {
			return nil, fmt.Errorf("without cluster %d: %w", g, err)
		}
		out[g] = v
	}
	return out, nil
}
