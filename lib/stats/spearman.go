package stats

import "slices"

// Spearman returns the rank correlation of x and y, in [-1, 1]: Pearson's of their
// ranks, equal values sharing the mean of theirs. Null 0. It refuses what Pearson
// refuses.
func Spearman(x, y []float64) (float64, error) { return Pearson(midranks(x), midranks(y)) }

// midranks are 1 for the smallest value and so on. What is not finite stays, for who
// refuses it.
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
		last := first
		for last+1 < len(sorted) && sorted[last+1] == v {
			last++
		}
		out[i] = float64(first+last)/2 + 1
	}
	return out
}
