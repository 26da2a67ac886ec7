package kernels

import "math"

// Largest is the largest element of a as Max has it: NaN if one is, and 0 rather than -0. It
// is -Inf of nothing.
func Largest(a []float32) float32 { return largest.reduce(best, a) }

// Smallest is the smallest element of a as Min has it: NaN if one is, and -0 rather than 0. It
// is +Inf of nothing.
func Smallest(a []float32) float32 { return smallest.reduce(best, a) }

// extreme is what goes by pairs in any order.
type extreme struct {
	identity float32 // what it is of nothing
	combine  func(x, y float32) float32
	kernel16 extremeKernel
}

var (
	largest  = extreme{float32(math.Inf(-1)), func(x, y float32) float32 { return max(x, y) }, largest16}
	smallest = extreme{float32(math.Inf(1)), func(x, y float32) float32 { return min(x, y) }, smallest16}
)

func (e *extreme) reduce(l Level, a []float32) float32 {
	top, a := e.vectors(l, a)
	for _, x := range a {
		top = e.combine(top, x)
	}
	return top
}
