package stats

import (
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/progress"
)

// ClusterBootstrap is Bootstrap for n values in clusters: each resample holds all values of as many
// clusters, drawn with replacement, as there are. Resamples differ in their number of values if
// clusters differ in size. If no two values share a cluster the draws are those of Bootstrap.
// Percentile intervals of few clusters are too narrow, by about sqrt((G-1)/G) z/t for G of them. It
// returns nil where Bootstrap does, and where there are clusters of another number of values.
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
