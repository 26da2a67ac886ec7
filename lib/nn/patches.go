package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Patches cuts images x [c h w, n], rows of CHW pixels, into tokens of size x size
// pixels [c size size, T n], row by row of T = h w / size^2. A token's numbers are in
// the order of a convolution's kernel, so that DenseTokens on them is torch's Conv2d
// with the kernel and the stride size.
func Patches(t *Tape, x *Node, c, h, w, size int) *Node {
	n, rows, cols := x.Shape().Dimensions[1], h/size, w/size
	y := TransposeAllAxes(Reshape(x, c, rows, size, cols, size, n), 0, 2, 4, 1, 3, 5)
	return t.Op(Reshape(y, c*size*size, rows*cols*n), []*Node{x}, func(v *Node) []*Node {
		v = TransposeAllAxes(Reshape(v, c, size, size, rows, cols, n), 0, 3, 1, 4, 2, 5)
		return []*Node{ReshapeWithShape(v, x.Shape())}
	})
}

// PlaceTokens adds a learned position embedding to the T tokens x [d, T n] and appends a
// learned token. Row k of table [T+1, d] is the embedding of position k, and the last row
// is the new token.
func PlaceTokens(t *Tape, x, table *Node, records int) *Node {
	width, known := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	column := Reshape(Transpose(table, 0, 1), table.Shape().Size(), 1)
	places := Reshape(broadcastColumn(column, records), width, known+records)
	y := Add(Concatenate([]*Node{x, zeros(x.Graph(), width, records)}, 1), places)
	t.uses = append(t.uses, placeUse{table, y, records})
	return t.Op(y, []*Node{x, table}, func(v *Node) []*Node {
		return []*Node{Slice(v, AxisRange(), AxisRange(0, known)), placeUse{table, y, records}.sum(v)}
	})
}

// placeUse is the paramUse of PlaceTokens: a record's gradient is its adjoint.
type placeUse struct {
	table, y *Node
	n        int
}

func (u placeUse) params() []*Node { return []*Node{u.table} }
func (u placeUse) output() *Node   { return u.y }

// sum adds up v [d, (T+1) n] over records, in the table's shape.
func (u placeUse) sum(v *Node) *Node {
	d := u.table.Shape().Dimensions
	return Transpose(Reshape(sumColumns(Reshape(v, d[0]*d[1], u.n)), d[1], d[0]), 0, 1)
}

func (u placeUse) normSquared(v *Node) *Node {
	return sumTokens(ReduceAndKeep(Square(v), ReduceSum, 0), u.n)
}

func (u placeUse) squares(v, weight *Node) []*Node {
	return []*Node{u.sum(Mul(byToken(Square(v), u.n), Reshape(weight, 1, 1, u.n)))}
}
