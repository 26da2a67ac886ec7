package nn

import (
	"github.com/gomlx/compute/gobackend"
	. "github.com/gomlx/gomlx/core/graph"
)

// matT is a b^T: both operands are contracted over their last axis, the layout
// that the Go backend multiplies without a transposed copy.
func matT(a, b *Node) *Node { return Dot(a, b).General([]int{1}, nil, []int{1}, nil) }

// byGo tells whether x is computed by the pure-Go backend, for whose costs the
// layers here are written. Other backends compile: they fuse what is written
// plainly and bring convolutions of their own.
func byGo(x *Node) bool { return x.Graph().Backend().String() == gobackend.BackendName }

// stretch repeats the column b [m, 1] or [m] as an [m, n] matrix. On the Go
// backend a product with ones is several times faster than a broadcast.
func stretch(b *Node, n int) *Node {
	m := b.Shape().Size()
	b = Reshape(b, m, 1)
	if !byGo(b) {
		return BroadcastToDims(b, m, n)
	}
	return Dot(b, full(b, 1, 1, n)).Product()
}

// total adds up the columns of x [m, n] as [m, 1]. On the Go backend a product
// with ones is several times faster than its reduction; on others it is the
// sum that loses fewer digits.
func total(x *Node) *Node {
	return Dot(x, full(x, 1, x.Shape().Dimensions[1], 1)).Product()
}

// sumColumns is total as [m].
func sumColumns(x *Node) *Node { return Reshape(total(x), x.Shape().Dimensions[0]) }

// Dense is W x + b for x [in, n], w [out, in] and b [out].
func Dense(t *Tape, x, w, b *Node) *Node {
	n := x.Shape().Dimensions[1]
	y := Add(Dot(w, x).Product(), stretch(b, n))
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
