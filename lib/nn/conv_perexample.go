package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// convUse is the paramUse of a convolution: a dense layer whose tokens are the positions of
// the window and whose inputs are the pixels under it.
type convUse struct{ l convolution }

func (u convUse) params() []*Node { return u.l.inputs()[1:] }
func (u convUse) output() *Node   { return u.l.out.X }

func (u convUse) tokens() tokenUse {
	in, n := u.l.in, u.l.in.records()
	return tokenUse{x: u.l.win.columns(in.rows(in.X), in.C, in.H, in.W, n), w: u.l.w, b: u.l.b, n: n}
}

func (u convUse) normSquared(v *Node) *Node { return u.tokens().normSquared(u.l.out.rows(v)) }

func (u convUse) squares(v, weight *Node) []*Node {
	out := u.tokens().squares(u.l.out.rows(v), weight)
	out[0] = ReshapeWithShape(out[0], u.l.w.Shape())
	return out
}

// biasUse is the paramUse of AddBias.
type biasUse struct {
	out Image
	b   *Node
}

func (u biasUse) params() []*Node { return []*Node{u.b} }
func (u biasUse) output() *Node   { return u.out.X }

func (u biasUse) squared(v *Node) *Node { return Square(sumTokens(u.out.rows(v), u.out.records())) }

func (u biasUse) normSquared(v *Node) *Node { return ReduceAndKeep(u.squared(v), ReduceSum, 0) }

func (u biasUse) squares(v, weight *Node) []*Node {
	return []*Node{sumColumns(Mul(u.squared(v), weight))}
}
