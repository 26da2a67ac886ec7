package kernels

import "math"

// Largest is the largest element of a as Max has it: NaN if one is, and 0 rather than -0. It
// is -Inf of nothing.
func Largest(a []float32) float32 { return largest.of(best, a) }

// Smallest is the smallest element of a as Min has it: NaN if one is, and -0 rather than 0. It
// is +Inf of nothing.
func Smallest(a []float32) float32 { return smallest.of(best, a) }

// extreme is what goes by pairs in any order.
type extreme struct {
	nothing float32 // what it is of nothing
	pair    func(x, y float32) float32
	sixteen sixteen
}

var (
	largest  = extreme{float32(math.Inf(-1)), func(x, y float32) float32 { return max(x, y) }, largest16}
	smallest = extreme{float32(math.Inf(1)), func(x, y float32) float32 { return min(x, y) }, smallest16}
)

func (e *extreme) of(l Level, a []float32) float32 {
	top, a := e.vectors(l, a)
	for _, x := range a {
		top = e.pair(top, x)
	}
	return top
}
