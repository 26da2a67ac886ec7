package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// convUse: a convolution is a dense layer whose tokens are the places of the
// window and whose inputs are what the window sees there.
type convUse struct {
	l convolution
	y *Node
}

func (u convUse) params() []*Node { return u.l.inputs()[1:] }
func (u convUse) output() *Node   { return u.y }

func (u convUse) tokens() tokenUse {
	l := u.l
	columns := l.win.columns(l.in.rows(l.x), l.in.C, l.in.H, l.in.W, l.n)
	return tokenUse{x: columns, w: l.w, b: l.b, n: l.n}
}

func (u convUse) normSquared(v *Node) *Node { return u.tokens().normSquared(u.l.out.rows(v)) }

func (u convUse) squares(v, weight *Node) []*Node {
	out := u.tokens().squares(u.l.out.rows(v), weight)
	out[0] = ReshapeWithShape(out[0], u.l.w.Shape())
	return out
}

// rows is a part of the image with one row per channel, [C, H*W*n], whatever the
// image's layout.
func (m Image) rows(x *Node) *Node {
	if !m.Last {
		return x
	}
	return Reshape(m.flatten(x), m.C, -1)
}

// biasUse is that of a bias that was put on an image by itself.
type biasUse struct {
	m    Image
	b, y *Node
}

func (u biasUse) params() []*Node { return []*Node{u.b} }
func (u biasUse) output() *Node   { return u.y }

func (u biasUse) squared(v *Node) *Node {
	rows := u.m.rows(v)
	return Square(sumTokens(rows, rows.Shape().Dimensions[1]/(u.m.H*u.m.W)))
}

func (u biasUse) normSquared(v *Node) *Node { return ReduceAndKeep(u.squared(v), ReduceSum, 0) }

func (u biasUse) squares(v, weight *Node) []*Node {
	return []*Node{sumColumns(Mul(u.squared(v), weight))}
}
