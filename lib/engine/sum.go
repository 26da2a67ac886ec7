package engine

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// sumWidth is the number of additions in a row: a sum of n elements takes
// log n / log 64 stages, and its rounding error grows with them and not with n.
const sumWidth = 64

// Sum adds all elements of x in stages of 64 additions each. The library's
// ReduceAllSum adds one after the other in float32 and stops counting at 2^24:
// twenty million ones sum to 16,777,216 there, and to 19,999,280 in two stages
// of sqrt(n).
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

// Mean is Sum divided by the number of elements.
func Mean(x *Node) *Node { return DivScalar(Sum(x), float64(x.Shape().Size())) }
