package nn

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// attend is attention written as sums over single numbers in float64. Channel c
// of token t of record i is x[(c*tokens+t)*n+i]; the mask of head h, query a and
// key b is mask[((h*tq+a)*tk+b)*n+i].
func attend(q, k, v, mask []float64, d, tq, tk, n, heads int) []float64 {
	out := make([]float64, d*tq*n)
	c := d / heads
	for i := range n {
		for h := range heads {
			for a := range tq {
				p := make([]float64, tk)
				var total float64
				for b := range tk {
					var dot float64
					for e := h * c; e < (h+1)*c; e++ {
						dot += q[(e*tq+a)*n+i] * k[(e*tk+b)*n+i]
					}
					p[b] = math.Exp(dot / math.Sqrt(float64(c)))
					total += p[b]
				}
				for e := h * c; e < (h+1)*c; e++ {
					for b := range tk {
						out[(e*tq+a)*n+i] += p[b] / total * mask[((h*tq+a)*tk+b)*n+i] * v[(e*tk+b)*n+i]
					}
				}
			}
		}
	}
	return out
}

func TestAttentionIsItsDefinition(t *testing.T) {
	const d, tk, n, heads = 6, 4, 5, 3
	for _, tq := range []int{4, 1} {
		q, k, v := wave(0.1, d, tq*n), wave(0.2, d, tk*n), wave(0.3, d, tk*n)
		ones := make([]float32, heads*tq*tk*n)
		drop := make([]float32, len(ones))
		for i := range ones {
			ones[i] = 1
			if i%3 > 0 {
				drop[i] = 1.5
			}
		}
		plain := tensors.FromFlatDataAndDimensions(ones, heads*tq*tk, n)
		masked := tensors.FromFlatDataAndDimensions(drop, heads*tq*tk, n)
		out := execute(t, func(in []*Node) []*Node {
			return []*Node{
				Attention(&Tape{}, in[0], in[1], in[2], nil, heads, n),
				Attention(&Tape{}, in[0], in[1], in[2], in[3], heads, n),
			}
		}, q, k, v, masked)
		checkClose(t, "plain", out[0], attend(flat(t, q), flat(t, k), flat(t, v), flat(t, plain), d, tq, tk, n, heads), 1e-6)
		checkClose(t, "masked", out[1], attend(flat(t, q), flat(t, k), flat(t, v), flat(t, masked), d, tq, tk, n, heads), 1e-6)

		checkVJP(t, "plain", func(tape *Tape, in []*Node) *Node {
			return Attention(tape, in[0], in[1], in[2], nil, heads, n)
		}, q, k, v)
		checkVJP(t, "masked", func(tape *Tape, in []*Node) *Node {
			return Attention(tape, in[0], in[1], in[2], Const(in[0].Graph(), masked), heads, n)
		}, q, k, v)
	}
}

// A record with padding has the attention of the record without it, and no gradient reaches
// the padding. Without padding the result has the bits of Attention.
func TestPaddedAttentionIsAttentionWithoutThePadding(t *testing.T) {
	const d, tokens, real, n, heads = 6, 4, 3, 5, 3
	q, k, v := wave(0.1, d, tokens*n), wave(0.2, d, tokens*n), wave(0.3, d, tokens*n)
	padding := make([]float32, tokens*n)
	for i := range real * n {
		padding[i] = 1
	}
	present := tensors.FromFlatDataAndDimensions(padding, tokens, n)
	out := execute(t, func(in []*Node) []*Node {
		short := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(0, real*n)) }
		g := in[0].Graph()
		tape := &Tape{}
		y := PaddedAttention(tape, in[0], in[1], in[2], Const(g, present), nil, heads, n)
		grads := tape.Backward(Adjoints{y: Sin(IotaFull(g, y.Shape()))}, in)
		lost := func(x *Node) *Node { return Slice(x, AxisRange(), AxisRange(real*n)) }
		return []*Node{
			y, Attention(&Tape{}, in[0], short(in[1]), short(in[2]), nil, heads, n),
			PaddedAttention(&Tape{}, in[0], in[1], in[2], OnesLike(Const(g, present)), nil, heads, n), Attention(&Tape{}, in[0], in[1], in[2], nil, heads, n),
			lost(grads[1]), lost(grads[2]), ZerosLike(lost(grads[1])),
			PaddedAttention(&Tape{}, in[0], in[1], in[2], ZerosLike(Const(g, present)), nil, heads, n),
		}
	}, q, k, v)
	checkClose(t, "padded", out[0], out[1], 1e-6)
	checkClose(t, "without padding", out[2], out[3], 0)
	checkClose(t, "gradient of padded keys", out[4], out[6], 0)
	checkClose(t, "gradient of padded values", out[5], out[6], 0)
	for _, x := range out[7] {
		if math.IsNaN(x) || math.Abs(x) > 1 {
			t.Fatalf("a record of padding gives %v", x)
		}
	}
	checkVJP(t, "padded", func(tape *Tape, in []*Node) *Node {
		return PaddedAttention(tape, in[0], in[1], in[2], Const(in[0].Graph(), present), nil, heads, n)
	}, q, k, v)
}
