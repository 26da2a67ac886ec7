package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// matMulT returns a b^T: both operands are contracted over their last axis.
func matMulT(a, b *Node) *Node { return Dot(a, b).General([]int{1}, nil, []int{1}, nil) }

// broadcastColumn repeats the column b [m, 1] or [m] as an [m, n] matrix.
func broadcastColumn(b *Node, n int) *Node {
	m := b.Shape().Size()
	return BroadcastToDims(Reshape(b, m, 1), m, n)
}

// sumColumns adds up the columns of x [m, n] as [m].
func sumColumns(x *Node) *Node { return ReduceSum(x, 1) }

// Dense is W x + b for x [in, n], w [out, in] and b [out].
func Dense(t *Tape, x, w, b *Node) *Node {
	n := x.Shape().Dimensions[1]
	y := Add(Dot(w, x).Product(), broadcastColumn(b, n))
	t.uses = append(t.uses, denseUse{x: x, w: w, b: b, y: y})
	return t.Op(y, []*Node{x, w, b}, func(v *Node) []*Node {
		dx := Dot(Transpose(w, 0, 1), v).Product()
		return []*Node{dx, matMulT(v, x), sumColumns(v)}
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
		// min(y * huge, scale) is the mask where y > 0 and 0 elsewhere.
		return []*Node{Mul(v, MinScalar(MulScalar(y, huge), scale))}
	})
}

// huge times any normal positive float32 is above any dropout scale.
const huge = 3e38
