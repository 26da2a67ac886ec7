package nn

import . "github.com/gomlx/gomlx/core/graph"

// Constant is a layer without input: its output for each of n records is the weights b
// [d], so [d, n].
func Constant(t *Tape, b *Node, n int) *Node {
	y := broadcastColumn(b, n)
	t.uses = append(t.uses, constantUse{b, y})
	return t.Op(y, []*Node{b}, func(v *Node) []*Node { return []*Node{sumColumns(v)} })
}

// constantUse is the paramUse of Constant: a record's gradient is its adjoint.
type constantUse struct{ b, y *Node }

func (u constantUse) params() []*Node { return []*Node{u.b} }
func (u constantUse) output() *Node   { return u.y }

func (u constantUse) normSquared(v *Node) *Node { return ReduceAndKeep(Square(v), ReduceSum, 0) }

func (u constantUse) squares(v, weight *Node) []*Node {
	return []*Node{sumColumns(Mul(Square(v), weight))}
}
