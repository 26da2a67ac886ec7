package stats

import (
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/progress"
)

// ClusterBootstrap is Bootstrap for n values in clusters: each resample holds all values of as many
// clusters, drawn with replacement, as there are. Resamples differ in their number of values if
// clusters differ in size. If no two values share a cluster the draws are those of Bootstrap.
// Percentile intervals of few clusters are too narrow (BootstrapStretch). It returns nil where
// Bootstrap does, and where there are clusters of another number of values.
func ClusterBootstrap(n int, of Clusters, reps int, rng *rand.Rand, stat func(idx []int) float64) []float64 {
	if of == nil {
		return Bootstrap(n, reps, rng, stat)
	}
	if n < 1 || len(of) != n || reps < 1 || rng == nil || stat == nil {
		return nil
	}
	members := of.Members()
	var idx []int
	out := make([]float64, reps)
	task := progress.Begin("bootstrap", reps)
	defer task.Done()
	for r := range out {
		idx = idx[:0]
		for range members {
			idx = append(idx, members[rng.IntN(len(members))]...)
		}
		out[r] = stat(idx)
		task.Add(1)
	}
	return out
}

// BootstrapStretch is by how much both halves of a percentile interval of a mean of n values are too
// short:
//
//	t/z sqrt(n/(n-1))
//
// with the quantiles t of Student, of n-1 degrees of freedom, and z of the normal distribution. n may
// be an effective number of clusters (Clusters.Effective); with 1 the mean has no interval, and it is
// infinite. For skewed values the longer tail stays too short.
func BootstrapStretch(n, level float64) float64 {
	if n <= 1 {
		return math.Inf(1)
	}
	return studentQuantile(0.5+level/2, max(1, n-1)) / normalQuantile(0.5+level/2) * math.Sqrt(n/(n-1))
}

// Members returns the values of every cluster, in the order in which clusters appear.
func (c Clusters) Members() [][]int {
	at := map[int]int{}
	var out [][]int
	for i, k := range c {
		g, known := at[k]
		if !known {
			g, at[k], out = len(out), len(out), append(out, nil)
		}
		out[g] = append(out[g], i)
	}
	return out
}
