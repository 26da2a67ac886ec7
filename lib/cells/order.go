package cells

import (
	"cmp"
	"slices"
)

// ascendingBy returns 0 ... n-1 sorted by compare; ties keep their order.
func ascendingBy(n int, compare func(a, b int) int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, compare)
	return out
}

// ascending returns the positions of v by ascending value.
func ascending[T cmp.Ordered](v []T) []int {
	return ascendingBy(len(v), func(a, b int) int { return cmp.Compare(v[a], v[b]) })
}
