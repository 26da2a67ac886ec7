package engine

import (
	"math"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Sum adds all elements of x in two stages of about sqrt(n) additions each.
// The library's ReduceAllSum adds one after the other in float32 and stops
// counting at 2^24: twenty million ones sum to 16,777,216 there.
func Sum(x *Node) *Node {
	n := x.Shape().Size()
	cols := int(math.Ceil(math.Sqrt(float64(n))))
	rows := (n + cols - 1) / cols
	flat := Reshape(x, n)
	if pad := rows*cols - n; pad > 0 {
		flat = Concatenate([]*Node{flat, Zeros(x.Graph(), shapes.Make(x.DType(), pad))}, 0)
	}
	return ReduceSum(ReduceSum(Reshape(flat, rows, cols), 1), 0)
}

// Mean is Sum divided by the number of elements.
func Mean(x *Node) *Node { return DivScalar(Sum(x), float64(x.Shape().Size())) }
