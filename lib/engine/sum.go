package engine

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// sumWidth is the number of elements of a partial sum. A sum of n elements has
// log n / log 64 stages, and its rounding error grows with their number, not with n.
const sumWidth = 64

// Sum returns the sum of all elements of x, in stages of 64 additions each. GoMLX's
// ReduceAllSum adds one after the other in float32, so a sum of ones stops at 2^24.
func Sum(x *Node) *Node {
	n := x.Shape().Size()
	flat := Reshape(x, n)
	for n > sumWidth {
		rows := (n + sumWidth - 1) / sumWidth
		if pad := rows*sumWidth - n; pad > 0 {
			flat = Concatenate([]*Node{flat, Zeros(x.Graph(), shapes.Make(x.DType(), pad))}, 0)
		}
		flat = ReduceSum(Reshape(flat, rows, sumWidth), 1)
		n = rows
	}
	return ReduceSum(flat, 0)
}

// Mean returns Sum divided by the number of elements.
func Mean(x *Node) *Node { return DivScalar(Sum(x), float64(x.Shape().Size())) }
