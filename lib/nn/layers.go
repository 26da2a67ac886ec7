package nn

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// matT is a b^T: both operands are contracted over their last axis, the layout
// that the Go backend multiplies without a transposed copy.
func matT(a, b *Node) *Node { return Dot(a, b).General([]int{1}, nil, []int{1}, nil) }

func ones(g *Graph, dims ...int) *Node { return Ones(g, shapes.Make(dtypes.Float32, dims...)) }

// sumColumns adds up the columns of x [m, n]: a product with ones is several
// times faster on the Go backend than its scalar reduction.
func sumColumns(x *Node) *Node {
	return Reshape(Dot(x, ones(x.Graph(), x.Shape().Dimensions[1], 1)).Product(), x.Shape().Dimensions[0])
}

// spread repeats b [m] as the columns of an [m, n] matrix.
func spread(b *Node, n int) *Node {
	return Dot(Reshape(b, b.Shape().Size(), 1), ones(b.Graph(), 1, n)).Product()
}

// Dense is W x + b for x [in, n], w [out, in] and b [out].
func Dense(t *Tape, x, w, b *Node) *Node {
	n := x.Shape().Dimensions[1]
	y := Add(Dot(w, x).Product(), spread(b, n))
	t.uses = append(t.uses, denseUse{x: x, w: w, b: b, y: y})
	return t.Op(y, []*Node{x, w, b}, func(v *Node) []*Node {
		dx := Dot(Transpose(w, 0, 1), v).Product()
		return []*Node{dx, matT(v, x), sumColumns(v)}
	})
}

// ReLUDropout is max(x, 0) times a dropout mask, whose entries are 0 for a
// dropped unit and 1/(1-rate) for a kept one. A nil mask is inference: max(x, 0).
// The derivative at 0 is 0, as in PyTorch; GoMLX's own is 1 there.
func ReLUDropout(t *Tape, x, mask *Node, rate float64) *Node {
	y := MaxScalar(x, 0)
	scale := 1.0
	if mask != nil {
		y = Mul(y, mask)
		scale = 1 / (1 - rate)
	}
	return t.Op(y, []*Node{x}, func(v *Node) []*Node {
		// min(y * huge, scale) is the mask where y > 0 and 0 elsewhere, in two
		// cheap passes instead of a comparison and a select.
		return []*Node{Mul(v, MinScalar(MulScalar(y, huge), scale))}
	})
}

// huge lifts every normal positive float32 above any dropout scale.
const huge = 3e38
