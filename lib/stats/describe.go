package stats

import (
	"fmt"
	"slices"
)

// Mean returns the arithmetic mean. It refuses an empty x and values that are
// not finite.
func Mean(x []float64) (float64, error) {
	if err := checkFinite("Mean", "x", x); err != nil {
		return 0, err
	}
	return meanOf(x), nil
}

// SD returns the sample standard deviation, with divisor n-1. It refuses fewer
// than two values and values that are not finite.
func SD(x []float64) (float64, error) {
	if err := checkFinite("SD", "x", x); err != nil {
		return 0, err
	}
	if len(x) < 2 {
		return 0, fmt.Errorf("stats.SD: x has %d value, want at least 2", len(x))
	}
	return sdOf(x), nil
}

// sdOf is SD for input that was checked.
func sdOf(x []float64) float64 {
	return rootSquares(x, float64(len(x)-1))
}

// PopSD returns the population standard deviation, with divisor n, which is
// NumPy's default. It refuses an empty x and values that are not finite.
func PopSD(x []float64) (float64, error) {
	if err := checkFinite("PopSD", "x", x); err != nil {
		return 0, err
	}
	return rootSquares(x, float64(len(x))), nil
}

// Median returns the middle value, or the mean of the two middle values. It
// refuses an empty x and values that are not finite.
func Median(x []float64) (float64, error) {
	if err := checkFinite("Median", "x", x); err != nil {
		return 0, err
	}
	s := slices.Clone(x)
	h := len(s) / 2
	upper := nth(s, h)
	if len(s)%2 == 1 {
		return upper, nil
	}
	return slices.Max(s[:h])/2 + upper/2, nil
}

// Quantile returns the q-th quantile (0 <= q <= 1) by linear interpolation
// between order statistics at position q(n-1): type 7 of Hyndman and Fan (1996),
// NumPy's default. It refuses an empty x and values that are not finite.
func Quantile(x []float64, q float64) (float64, error) {
	if err := checkFinite("Quantile", "x", x); err != nil {
		return 0, err
	}
	if !(q >= 0 && q <= 1) {
		return 0, fmt.Errorf("stats.Quantile: q is %v, want 0 <= q <= 1", q)
	}
	return sortedQuantile(slices.Sorted(slices.Values(x)), q), nil
}

// sortedQuantile is Quantile on finite values in ascending order. It interpolates from the nearer
// end, as NumPy does, so that the result is monotone in q.
func sortedQuantile(s []float64, q float64) float64 {
	pos := float64(q * float64(len(s)-1))
	i := int(pos)
	if i >= len(s)-1 {
		return s[len(s)-1]
	}
	t, step := pos-float64(i), s[i+1]-s[i]
	if t < 0.5 {
		return s[i] + float64(step*t)
	}
	return s[i+1] - float64(step*(1-t))
}
