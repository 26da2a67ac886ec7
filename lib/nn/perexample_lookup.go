// Gradients per record of the layers that read columns by their numbers.

package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// tokenLookupUse is the paramUse of TokenEmbedding. The gradient of a record by a row of the
// table is the sum of the adjoints of the record's tokens with that number. No table per record
// is formed: for each token the sum over the tokens with the same number is computed, [d, T n].
type tokenLookupUse struct{ codes, index, w, y *Node }

func (u tokenLookupUse) params() []*Node { return []*Node{u.w} }
func (u tokenLookupUse) output() *Node   { return u.y }

// equal returns [n, T, T]: 1 where two tokens of a record have the same number.
func (u tokenLookupUse) equal() *Node {
	d := u.codes.Shape().Dimensions
	tokens, n := d[0], d[1]
	codes := Transpose(u.codes, 0, 1)
	rows := BroadcastToDims(Reshape(codes, n, tokens, 1), n, tokens, tokens)
	columns := BroadcastToDims(Reshape(codes, n, 1, tokens), n, tokens, tokens)
	return ConvertDType(Equal(rows, columns), u.codes.DType())
}

// sums returns, for each token, the adjoints of its record's tokens with the same number,
// [n, T, d], and the number of these tokens, [n, T].
func (u tokenLookupUse) sums(v *Node) (sums, count *Node) {
	n := u.codes.Shape().Dimensions[1]
	equal := u.equal()
	byRecord := TransposeAllAxes(byToken(v, n), 2, 1, 0)
	return sumOver(equal, 2, byRecord, 1), ReduceSum(equal, 2)
}

// normSquared adds up the products of the adjoints of all pairs of tokens with one number.
func (u tokenLookupUse) normSquared(v *Node) *Node {
	n := u.codes.Shape().Dimensions[1]
	sums, _ := u.sums(v)
	byRecord := TransposeAllAxes(byToken(v, n), 2, 1, 0)
	perToken := ReduceSum(Mul(sums, byRecord), 2)
	return Reshape(ReduceSum(perToken, 1), 1, n)
}

// squares adds a record's square to a row once for each token with its number, divided by the
// number of these tokens.
func (u tokenLookupUse) squares(v, weight *Node) []*Node {
	sums, count := u.sums(v)
	d := sums.Shape().Dimensions
	n, tokens, width := d[0], d[1], d[2]
	share := Div(BroadcastToDims(Reshape(weight, n, 1), n, tokens), count)
	parts := Mul(Square(sums), BroadcastToDims(Reshape(share, n, tokens, 1), d...))
	parts = Reshape(TransposeAllAxes(parts, 1, 0, 2), tokens*n, width)
	return []*Node{Scatter(u.index, parts, u.w.Shape(), false, false)}
}

// positionUse is the paramUse of AddPositions: of a row of the table a record's gradient is the
// adjoint of the token at that position.
type positionUse struct {
	w, y *Node
	n    int
}

func (u positionUse) params() []*Node { return []*Node{u.w} }
func (u positionUse) output() *Node   { return u.y }

// sum adds up v [d, T n] over records, in the table's shape.
func (u positionUse) sum(v *Node) *Node {
	d, all := v.Shape().Dimensions, u.w.Shape().Dimensions[0]
	sum := Transpose(ReduceSum(byToken(v, u.n), 2), 0, 1)
	if tokens := d[1] / u.n; tokens < all {
		sum = Concatenate([]*Node{sum, zeros(v.Graph(), all-tokens, d[0])}, 0)
	}
	return sum
}

func (u positionUse) normSquared(v *Node) *Node {
	return sumTokens(ReduceAndKeep(Square(v), ReduceSum, 0), u.n)
}

func (u positionUse) squares(v, weight *Node) []*Node {
	d := v.Shape().Dimensions
	return []*Node{u.sum(Reshape(Mul(byToken(Square(v), u.n), Reshape(weight, 1, 1, u.n)), d...))}
}

// rowUse is the paramUse of AddRow: a record's gradient by the row is the sum of the adjoints of
// its tokens.
type rowUse struct {
	w, y   *Node
	row, n int
}

func (u rowUse) params() []*Node { return []*Node{u.w} }
func (u rowUse) output() *Node   { return u.y }

// atRow returns zeros in the table's shape with v [d, 1] as the row.
func (u rowUse) atRow(v *Node) *Node {
	d := u.w.Shape().Dimensions
	var parts []*Node
	if u.row > 0 {
		parts = append(parts, zeros(v.Graph(), u.row, d[1]))
	}
	parts = append(parts, Reshape(v, 1, d[1]))
	if rest := d[0] - u.row - 1; rest > 0 {
		parts = append(parts, zeros(v.Graph(), rest, d[1]))
	}
	return Concatenate(parts, 0)
}

func (u rowUse) normSquared(v *Node) *Node {
	return ReduceAndKeep(Square(sumTokens(v, u.n)), ReduceSum, 0)
}

func (u rowUse) squares(v, weight *Node) []*Node {
	return []*Node{u.atRow(sumColumns(Mul(Square(sumTokens(v, u.n)), weight)))}
}
