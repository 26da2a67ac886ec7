package stats

import (
	"cmp"
	"math"
	"slices"
)

// BenjaminiHochberg returns the adjusted p-values of Benjamini and Hochberg (1995), in the order
// given: p m/rank, made monotone from the largest down, at most 1. Rejecting adjusted values <= q
// keeps the false discovery rate below q for independent or positively dependent tests.
//
// A value that is NaN or outside [0, 1] is a test that could not be run: it does not count in m
// and stays NaN. A caller who wants it to count passes 1.
func BenjaminiHochberg(p []float64) []float64 {
	out := make([]float64, len(p))
	var order []int
	for i, v := range p {
		out[i] = math.NaN()
		if v >= 0 && v <= 1 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	m, least := float64(len(order)), 1.0
	for rank, i := range slices.Backward(order) {
		least = math.Min(least, p[i]*m/float64(rank+1))
		out[i] = least
	}
	return out
}
