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
