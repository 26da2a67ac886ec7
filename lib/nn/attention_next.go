// Attention of the next token of a text, with the keys and values of those before it kept.

package nn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// NextAttention is the last column of CausalAttention, in inference: the attention of token t of
// every record, whose query, key and value are q, k and v [d, n], to itself and to the tokens
// before it. keys and values, [heads n, T, c] with c = d / heads, are those of earlier tokens;
// before, [T], is 1 for the first t of them and 0 for the rest, which are not read.
//
// It returns the result [d, n], and the token's own key and value as [heads n, 1, c]: row h n + i
// is head h of record i.
func NextAttention(q, k, v, keys, values, before *Node, heads int) (out, key, value *Node) {
	d := q.Shape().Dimensions
	a := attention{heads: heads, n: d[1], width: d[0] / heads}
	scale := 1 / math.Sqrt(float64(a.width))
	row := func(x *Node) *Node { return Reshape(a.split(x), a.heads*a.n, 1, a.width) }
	query, key, value := row(q), row(k), row(v)
	kept := MulScalar(sumOver(query, 2, keys, 2), scale) // [heads n, 1, T]
	low := MulScalar(AddScalar(before, -1), noKey)
	kept = Add(kept, BroadcastToDims(Reshape(low, 1, 1, -1), kept.Shape().Dimensions...))
	own := MulScalar(ReduceAndKeep(Mul(query, key), ReduceSum, -1), scale) // [heads n, 1, 1]
	p := Softmax(Concatenate([]*Node{kept, own}, -1), -1)
	tokens := kept.Shape().Dimensions[2]
	sum := sumOver(Slice(p, AxisRange(), AxisRange(), AxisRange(0, tokens)), 2, values, 1)
	last := Slice(p, AxisRange(), AxisRange(), AxisRange(tokens))
	sum = Add(sum, Mul(value, BroadcastToDims(last, value.Shape().Dimensions...)))
	return a.join(Reshape(sum, a.heads*a.n, a.width, 1)), key, value
}
