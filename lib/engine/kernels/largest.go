package kernels

import "math"

// Largest returns the largest element of a in the sense of Max: NaN if one is NaN, and 0
// rather than -0. It is -Inf for an empty slice.
func Largest(a []float32) float32 { return largest.reduce(best, a) }

// Smallest returns the smallest element of a in the sense of Min: NaN if one is NaN, and -0
// rather than 0. It is +Inf for an empty slice.
func Smallest(a []float32) float32 { return smallest.reduce(best, a) }

// extreme is the maximum or the minimum, as a reduction in any order.
type extreme bool

const (
	largest  extreme = false
	smallest extreme = true
)

// identity is the result for an empty slice.
func (e extreme) identity() float32 {
	if e == smallest {
		return float32(math.Inf(1))
	}
	return float32(math.Inf(-1))
}

func (e extreme) combine(x, y float32) float32 {
	if e == smallest {
		return min(x, y)
	}
	return max(x, y)
}

func (e extreme) reduce(l Level, a []float32) float32 {
	top, a := e.vectors(l, a)
	for _, x := range a {
		top = e.combine(top, x)
	}
	return top
}
