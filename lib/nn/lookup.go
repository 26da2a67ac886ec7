// Layers that read columns by their numbers: token embeddings, learned positions, and the
// tokens of a record that an output is computed for.

package nn

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// TokenEmbedding looks up the row of the table w [V, d] for each token's number, a whole
// number 0 ... V-1 in codes [T, n]. The result is [d, T n]. No gradient flows to codes.
//
// It reads and adds up rows, so its cost does not depend on V; [Embedding] multiplies with a
// matrix of V rows.
func TokenEmbedding(t *Tape, codes, w *Node) *Node {
	index := ConvertDType(Reshape(codes, -1, 1), dtypes.Int32)
	y := Transpose(Gather(w, index), 0, 1)
	t.uses = append(t.uses, tokenLookupUse{codes: codes, index: index, w: w, y: y})
	return t.Op(y, []*Node{w}, func(v *Node) []*Node {
		return []*Node{Scatter(index, Transpose(v, 0, 1), w.Shape(), false, false)}
	})
}

// GatherTokens returns tokens of x [d, T n] by their positions, whole numbers 0 ... T-1 in
// positions [P, n]: column p n + i of the result [d, P n] is token positions[p, i] of record
// i. A token can be asked for more than once. No gradient flows to positions.
func GatherTokens(t *Tape, x, positions *Node) *Node {
	d := positions.Shape().Dimensions
	records := d[1]
	record := Iota(x.Graph(), shapes.Make(dtypes.Int32, d...), 1)
	column := Add(MulScalar(ConvertDType(positions, dtypes.Int32), records), record)
	index := Reshape(column, -1, 1)
	y := Transpose(Gather(Transpose(x, 0, 1), index), 0, 1)
	width, columns := x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	return t.Op(y, []*Node{x}, func(v *Node) []*Node {
		sum := Scatter(index, Transpose(v, 0, 1), shapes.Make(x.DType(), columns, width), false, false)
		return []*Node{Transpose(sum, 0, 1)}
	})
}

// AddPositions adds row k of w [positions, d] to token k of every record of x [d, T n], for T
// of at most positions.
func AddPositions(t *Tape, x, w *Node, records int) *Node {
	d := x.Shape().Dimensions
	tokens := d[1] / records
	used := Transpose(Slice(w, AxisRange(0, tokens), AxisRange()), 0, 1)
	y := Reshape(Add(byToken(x, records), BroadcastToDims(Reshape(used, d[0], tokens, 1), d[0], tokens, records)), d...)
	u := positionUse{w: w, y: y, n: records}
	t.uses = append(t.uses, u)
	return t.Op(y, []*Node{x, w}, func(v *Node) []*Node { return []*Node{v, u.sum(v)} })
}

// AddRow adds row k of w [rows, d] to every token of every record of x [d, T n].
func AddRow(t *Tape, x, w *Node, k, records int) *Node {
	y := Add(x, broadcastColumn(Slice(w, AxisRange(k, k+1), AxisRange()), x.Shape().Dimensions[1]))
	u := rowUse{w: w, y: y, row: k, n: records}
	t.uses = append(t.uses, u)
	return t.Op(y, []*Node{x, w}, func(v *Node) []*Node { return []*Node{v, u.atRow(sumColumns(v))} })
}

// DropoutTokens is x [d, T n] times a dropout mask [d T, n]; a nil mask is inference.
func DropoutTokens(t *Tape, x, mask *Node) *Node {
	if mask == nil {
		return x
	}
	mask = Reshape(mask, x.Shape().Dimensions...)
	return t.Op(Mul(x, mask), []*Node{x}, func(v *Node) []*Node { return []*Node{Mul(v, mask)} })
}

// ByRecord views x [d, P n] as [d P, n]: row e P + p is channel e of token p.
func ByRecord(t *Tape, x *Node, records int) *Node {
	d := x.Shape().Dimensions
	y := Reshape(x, d[0]*d[1]/records, records)
	return t.Op(y, []*Node{x}, func(v *Node) []*Node { return []*Node{Reshape(v, d...)} })
}
