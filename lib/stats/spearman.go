package stats

import "slices"

// Spearman returns the rank correlation of x and y, in [-1, 1]: Pearson's correlation of their
// mid-ranks. Null 0. It refuses what Pearson refuses.
func Spearman(x, y []float64) (float64, error) { return Pearson(midranks(x), midranks(y)) }

// midranks returns the ranks from 1, equal values sharing their mean rank. Values that are not
// finite are returned unchanged, so that Pearson refuses them.
func midranks(x []float64) []float64 {
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	out := make([]float64, len(x))
	for i, v := range x {
		if v-v != 0 {
			out[i] = v
			continue
		}
		first, _ := slices.BinarySearch(sorted, v)
		behind, _ := slices.BinarySearchFunc(sorted, v, func(one, of float64) int {
			if one <= of {
				return -1
			}
			return 1
		})
		out[i] = float64(first+behind-1)/2 + 1
	}
	return out
}
