// How well a latent space separates cell types.

package utility

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// ClusterAgreement returns the adjusted Rand index of cell types with the partition that k-means
// makes of the latent means, a row per cell, into as many clusters as there are types. Null: 0,
// for unrelated partitions; higher is better, 1 is the same partition.
//
// Difference from the published program of "Fishing for Privacy", which takes Leiden's clusters of
// the expression for the types: the labels are the caller's. It refuses labels that are all equal
// and what KMeans refuses.
func ClusterAgreement(means array.Matrix[float64], types []int, rng *rand.Rand) (float64, error) {
	k, err := countTypes("ClusterAgreement", means, types)
	if err != nil {
		return 0, err
	}
	found, _, err := KMeans{K: k}.Partition(means, rng)
	if err != nil {
		return 0, err
	}
	return stats.AdjustedRandIndex(types, found)
}

// Silhouette returns the mean silhouette of cells by their types, with the Euclidean distance of
// their latent means, a row per cell: the mean over cells of (b - a)/max(a, b), a being the mean
// distance to the other cells of its type and b that to the cells of the nearest other type. Null:
// 0 or below, for types that form no clusters; higher is better, up to 1.
func Silhouette(means array.Matrix[float64], types []int) (float64, error) {
	if _, err := countTypes("Silhouette", means, types); err != nil {
		return 0, err
	}
	mean, _, err := stats.Silhouette(types, func(i, j int) float64 {
		return math.Sqrt(squaredDistance(means.Row(i), means.Row(j)))
	})
	return mean, err
}

// countTypes returns the number of different types, at least two.
func countTypes(what string, x array.Matrix[float64], types []int) (int, error) {
	if err := x.Check("latent means"); err != nil {
		return 0, fmt.Errorf("utility.%s: %w", what, err)
	}
	if len(types) != x.Rows {
		return 0, fmt.Errorf("utility.%s: %d types of %d cells", what, len(types), x.Rows)
	}
	names := slices.Sorted(slices.Values(types))
	k := len(slices.Compact(names))
	if k < 2 {
		return 0, fmt.Errorf("utility.%s: %d cells have %d different types, want at least 2", what, x.Rows, k)
	}
	return k, nil
}
