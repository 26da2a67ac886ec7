package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// ErrConstant is the error for values that are all equal where they must differ.
var ErrConstant = errors.New("is constant")

// Pearson returns the product-moment correlation of x and y, in [-1, 1]; null 0.
// It refuses empty or unequal lengths, fewer than two pairs, values that are not
// finite, and, with ErrConstant, a constant x or y, for which no correlation exists.
func Pearson(x, y []float64) (float64, error) {
	if err := errors.Join(checkFinite("Pearson", "x", x), checkFinite("Pearson", "y", y)); err != nil {
		return 0, err
	}
	if err := checkSameLength("Pearson", "x", len(x), "y", len(y)); err != nil {
		return 0, err
	}
	mx, my := meanOf(x), meanOf(y)
	sx, sy := rootSquares(x, 1), rootSquares(y, 1)
	if slices.Min(x) == slices.Max(x) {
		return 0, fmt.Errorf("stats.Pearson: x %w (%v)", ErrConstant, x[0])
	}
	if slices.Min(y) == slices.Max(y) {
		return 0, fmt.Errorf("stats.Pearson: y %w (%v)", ErrConstant, y[0])
	}
	var r accumulator
	for i := range x {
		r.add(float64((x[i] - mx) / sx * ((y[i] - my) / sy)))
	}
	return math.Max(-1, math.Min(1, r.value())), nil
}
