package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Kendall returns the rank correlation tau-b of x and y, in [-1, 1]:
//
//	tau = (concordant - discordant pairs)/sqrt((n0 - n1)(n0 - n2))
//
// of n0 = n(n-1)/2 pairs, of which n1 are tied in x and n2 in y (Kendall 1945; counted as Knight 1966
// does, in n log n steps). Null 0. It refuses lengths that differ, fewer than two values, values that
// are not finite, and ErrConstant.
func Kendall(x, y []float64) (float64, error) {
	n := len(x)
	if n != len(y) || n < 2 {
		return 0, fmt.Errorf("stats.Kendall: %d and %d values, want the same number, at least 2", n, len(y))
	}
	if err := checkFinite("Kendall", "x", x); err != nil {
		return 0, err
	}
	if err := checkFinite("Kendall", "y", y); err != nil {
		return 0, err
	}
	order := indices(n)
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(x[a], x[b]), cmp.Compare(y[a], y[b])) })
	sortedX, sortedY := make([]float64, n), make([]float64, n)
	for k, i := range order {
		sortedX[k], sortedY[k] = x[i], y[i]
	}
	tiedX := tiedPairs(n, func(k int) bool { return sortedX[k] == sortedX[k-1] })
	tiedBoth := tiedPairs(n, func(k int) bool { return sortedX[k] == sortedX[k-1] && sortedY[k] == sortedY[k-1] })
	discordant := inversions(sortedY, make([]float64, n))
	tiedY := tiedPairs(n, func(k int) bool { return sortedY[k] == sortedY[k-1] })
	pairs := n * (n - 1) / 2
	if tiedX == pairs || tiedY == pairs {
		return 0, fmt.Errorf("stats.Kendall: %w", ErrConstant)
	}
	balance := float64(pairs - tiedX - tiedY + tiedBoth - 2*discordant)
	return balance / (math.Sqrt(float64(pairs-tiedX)) * math.Sqrt(float64(pairs-tiedY))), nil
}

// tiedPairs returns the number of pairs within runs of equal values; same says whether value k equals
// the one before it.
func tiedPairs(n int, same func(k int) bool) (pairs int) {
	run := 1
	for k := 1; k < n; k++ {
		if !same(k) {
			run = 0
		}
		pairs += run
		run++
	}
	return pairs
}

// inversions sorts y and returns how many pairs were in falling order. spare is as long as y.
func inversions(y, spare []float64) int {
	if len(y) < 2 {
		return 0
	}
	half := len(y) / 2
	count := inversions(y[:half], spare) + inversions(y[half:], spare)
	left, right, out := y[:half], y[half:], spare[:0]
	for len(left) > 0 && len(right) > 0 {
		if right[0] < left[0] {
			count += len(left)
			out, right = append(out, right[0]), right[1:]
		} else {
			out, left = append(out, left[0]), left[1:]
		}
	}
	copy(y, append(append(out, left...), right...))
	return count
}
