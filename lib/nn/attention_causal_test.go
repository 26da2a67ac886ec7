// Tests of CausalAttention and NextAttention.

package nn

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// firstTokens returns the first so many of a record's tokens, of x [d, T n].
func firstTokens(x []float64, d, tokens, n, some int) []float64 {
	out := make([]float64, 0, d*some*n)
	for c := range d {
		out = append(out, x[c*tokens*n:][:some*n]...)
	}
	return out
}

// A token's attention is that of the last token of the record that ends with it, with the weights'
// own part of the dropout mask; no gradient reaches later tokens.
func TestCausalAttentionIsAttentionToTheTokensBefore(t *testing.T) {
	const d, tokens, n, heads = 6, 4, 5, 3
	q, k, v := wave(0.1, d, tokens*n), wave(0.2, d, tokens*n), wave(0.3, d, tokens*n)
	drop := make([]float32, heads*tokens*tokens*n)
	for i := range drop {
		if i%3 > 0 {
			drop[i] = 1.5
		}
	}
	mask := tensors.FromFlatDataAndDimensions(drop, heads*tokens*tokens, n)
	out := execute(t, func(in []*Node) []*Node {
		tape := &Tape{}
		y := CausalAttention(tape, in[0], in[1], in[2], nil, heads, n)
		second := Slice(y, AxisRange(), AxisRange(n, 2*n))
		early := Concatenate([]*Node{zeros(y.Graph(), d, n), OnesLike(second), zeros(y.Graph(), d, 2*n)}, 1)
		grads := tape.Backward(Adjoints{y: early}, in[:3])
		later := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(2*n)) }
		return []*Node{y, CausalAttention(&Tape{}, in[0], in[1], in[2], in[3], heads, n), later(grads[1]), later(grads[2]), ZerosLike(later(grads[1]))}
	}, q, k, v, mask)
	for a := range tokens {
		part := func(x *tensors.Tensor) []float64 { return firstTokens(flat(t, x), d, tokens, n, a+1) }
		at := func(x []float64, tokens int) (column []float64) { // token a of x
			for c := range d {
				column = append(column, x[(c*tokens+a)*n:][:n]...)
			}
			return column
		}
		for which, got := range out[:2] {
			weights := make([]float64, heads*(a+1)*(a+1)*n)
			for i := range weights {
				head, b, record := i/((a+1)*(a+1)*n), i/n%(a+1), i%n
				weights[i] = 1
				if which == 1 {
					weights[i] = float64(drop[((head*tokens+a)*tokens+b)*n+record])
				}
			}
			want := attend(part(q), part(k), part(v), weights, d, a+1, a+1, n, heads)
			checkClose(t, "causal", at(got, tokens), at(want, a+1), 1e-6)
		}
	}
	checkClose(t, "gradient of later keys", out[2], out[4], 0)
	checkClose(t, "gradient of later values", out[3], out[4], 0)
	for name, m := range map[string]*tensors.Tensor{"plain": nil, "masked": mask} {
		checkVJP(t, name, func(tape *Tape, in []*Node) *Node {
			var drop *Node
			if m != nil {
				drop = Const(in[0].Graph(), m)
			}
			return CausalAttention(tape, in[0], in[1], in[2], drop, heads, n)
		}, q, k, v)
	}
}

// With the keys and values of earlier tokens kept, a token's attention is that of the whole record.
// What stands in the places of later tokens is not read.
func TestNextAttentionIsTheLastColumnOfCausalAttention(t *testing.T) {
	const d, tokens, n, heads = 6, 5, 4, 3
	q, k, v := wave(0.1, d, tokens*n), wave(0.2, d, tokens*n), wave(0.3, d, tokens*n)
	for at := range tokens {
		out := execute(t, func(in []*Node) []*Node {
			a := attention{heads: heads, n: n, width: d / heads}
			token := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(at*n, (at+1)*n)) }
			seen := make([]float32, tokens)
			for i := range at {
				seen[i] = 1
			}
			before := Const(in[0].Graph(), tensors.FromFlatDataAndDimensions(seen, tokens))
			kept := func(x *Node) *Node { return Transpose(a.split(x), 1, 2) }
			got, key, value := NextAttention(token(in[0]), token(in[1]), token(in[2]), kept(in[1]), kept(in[2]), before, heads)
			all := token(CausalAttention(&Tape{}, in[0], in[1], in[2], nil, heads, n))
			return []*Node{got, all, key, kept(token(in[1])), value, kept(token(in[2]))}
		}, q, k, v)
		checkClose(t, "the next token", out[0], out[1], 1e-6)
		checkClose(t, "its key", out[2], out[3], 0)
		checkClose(t, "its value", out[4], out[5], 0)
	}
}
