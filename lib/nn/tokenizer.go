package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// FeatureTokens turns every number of a record into a token of width d and appends a
// learned token:
//
//	token_j = x_j w_j + b_j for j = 1 ... F,  token_{F+1} = cls
//
// for x [F, n], w and b [F, d] and cls [1, d]; the result is [d, (F+1) n].
func FeatureTokens(t *Tape, x, w, b, cls *Node) *Node {
	// One product of all the parameters with a block-diagonal matrix: row j holds
	// x_j in the columns of token j, row F+j holds ones there.
	blocks := tokenBlocks(x)
	table := Concatenate([]*Node{w, b, cls}, 0)
	y := Dot(Transpose(table, 0, 1), blocks).Product()
	features := x.Shape().Dimensions[0]
	t.uses = append(t.uses, tokenizerUse{blocks: blocks, y: y, parts: []*Node{w, b, cls}, n: x.Shape().Dimensions[1]})
	return t.Op(y, []*Node{w, b, cls}, func(v *Node) []*Node {
		return splitTable(matMulT(blocks, v), features)
	})
}

// tokenBlocks returns [2F+1, (F+1) n] for x [F, n].
func tokenBlocks(x *Node) *Node {
	f, n := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	eye := ConvertDType(Diagonal(x.Graph(), f+1), x.DType())
	spreadEye := func(rows int) *Node {
		e := Slice(eye, AxisRange(0, rows), AxisRange())
		return BroadcastToDims(Reshape(e, rows, f+1, 1), rows, f+1, n)
	}
	values := Mul(spreadEye(f), Reshape(x, f, 1, n))
	return Reshape(Concatenate([]*Node{values, spreadEye(f + 1)}, 0), 2*f+1, (f+1)*n)
}

func splitTable(g *Node, features int) []*Node {
	return []*Node{
		Slice(g, AxisRange(0, features), AxisRange()),
		Slice(g, AxisRange(features, 2*features), AxisRange()),
		Slice(g, AxisRange(2*features, 2*features+1), AxisRange()),
	}
}

// tokenizerUse is the paramUse of FeatureTokens: a parameter enters one token only, so
// squared gradients factorise as in a dense layer whose records are the tokens.
type tokenizerUse struct {
	blocks, y *Node
	parts     []*Node
	n         int
}

func (u tokenizerUse) params() []*Node { return u.parts }
func (u tokenizerUse) output() *Node   { return u.y }

func (u tokenizerUse) normSquared(v *Node) *Node {
	perToken := Mul(ReduceAndKeep(Square(u.blocks), ReduceSum, 0), ReduceAndKeep(Square(v), ReduceSum, 0))
	return sumTokens(perToken, u.n)
}

func (u tokenizerUse) squares(v, weight *Node) []*Node {
	d := v.Shape().Dimensions
	q := Reshape(Mul(byToken(Square(v), u.n), Reshape(weight, 1, 1, u.n)), d[0], d[1])
	return splitTable(matMulT(Square(u.blocks), q), u.parts[0].Shape().Dimensions[0])
}
