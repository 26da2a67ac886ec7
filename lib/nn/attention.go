// Multi-head attention: of whole records, of records with padding, and causal.

package nn

import (
	"math"
	"math/rand/v2"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Attention is multi-head scaled dot-product attention: for every record and
// head, with queries Q [Tq, c], keys K and values V [Tk, c], c = d / heads,
//
//	O = drop(softmax(Q K^T / sqrt(c))) V
//
// q is [d, Tq n], k and v are [d, Tk n], the result is [d, Tq n]; head h owns rows
// h c ... (h+1) c - 1, as in PyTorch. The mask is [heads Tq Tk, n], nil in
// inference. Tokens attend only to tokens of the same record.
func Attention(t *Tape, q, k, v, mask *Node, heads, records int) *Node {
	return PaddedAttention(t, q, k, v, nil, mask, heads, records)
}

// PaddedAttention is Attention for records with padding: present [Tk, n] is 1 for a key that
// exists and 0 for padding, which no query reads. A nil present is Attention. In a record
// without any key every weight is the same, so that its numbers are finite.
func PaddedAttention(t *Tape, q, k, v, present, mask *Node, heads, records int) *Node {
	a := attention{heads: heads, n: records, width: q.Shape().Dimensions[0] / heads}
	if present == nil {
		return a.attend(t, q, k, v, mask, nil)
	}
	return a.attend(t, q, k, v, mask, func(scores *Node) *Node { return a.paddingScores(present, scores) })
}

// CausalAttention is Attention in which no token reads a later one: the weight of key b for query
// a is 0 for b > a. There are as many queries as keys. Padding that follows a record's last token
// is read by no token before it, so that it needs no mask.
func CausalAttention(t *Tape, q, k, v, mask *Node, heads, records int) *Node {
	a := attention{heads: heads, n: records, width: q.Shape().Dimensions[0] / heads}
	return a.attend(t, q, k, v, mask, laterScores)
}

// attend is attention with the mask of a dropout; low returns what is added to the scores, nil:
// nothing.
func (a attention) attend(t *Tape, q, k, v, mask *Node, low func(scores *Node) *Node) *Node {
	scale := 1 / math.Sqrt(float64(a.width))
	qs, ks, vs := a.split(q), a.split(k), a.split(v)
	scores := MulScalar(sumOver(qs, 1, ks, 1), scale)
	if low != nil {
		scores = Add(scores, low(scores))
	}
	p := Softmax(scores, -1)
	weights := p
	var drop *Node
	if mask != nil {
		drop = a.splitMask(mask, p)
		weights = Mul(p, drop)
	}
	out := a.join(sumOver(vs, 2, weights, 2))
	return t.Op(out, []*Node{q, k, v}, func(adj *Node) []*Node {
		do := a.split(adj)
		dv := sumOver(do, 2, weights, 1)
		dp := sumOver(do, 1, vs, 1)
		if drop != nil {
			dp = Mul(dp, drop)
		}
		ds := MulScalar(softmaxAdjoint(p, dp), scale)
		dq := sumOver(ks, 2, ds, 2)
		dk := sumOver(qs, 2, ds, 1)
		return []*Node{a.join(dq), a.join(dk), a.join(dv)}
	})
}

type attention struct{ heads, n, width int }

// split turns [d, T n] into one [width, T] matrix per head and record. Rows of tokens are copied
// faster than columns of them would be.
func (a attention) split(x *Node) *Node {
	tokens := x.Shape().Dimensions[1] / a.n
	x = TransposeAllAxes(Reshape(x, a.heads, a.width, tokens, a.n), 0, 3, 1, 2)
	return Reshape(x, a.heads*a.n, a.width, tokens)
}

// join is the inverse of split.
func (a attention) join(x *Node) *Node {
	tokens := x.Shape().Dimensions[2]
	x = TransposeAllAxes(Reshape(x, a.heads, a.n, a.width, tokens), 0, 2, 3, 1)
	return Reshape(x, a.heads*a.width, tokens*a.n)
}

// splitMask gives a mask [heads Tq Tk, n] the layout of the probabilities p.
func (a attention) splitMask(mask, p *Node) *Node {
	d := p.Shape().Dimensions
	mask = TransposeAllAxes(Reshape(mask, a.heads, d[1]*d[2], a.n), 0, 2, 1)
	return Reshape(mask, d...)
}

// paddingScores returns what is added to the scores: 0 for a key that exists, and for padding
// a number so low that its weight is exactly 0 beside a key that exists.
func (a attention) paddingScores(present, scores *Node) *Node {
	d := scores.Shape().Dimensions
	low := MulScalar(AddScalar(Transpose(present, 0, 1), -1), noKey)
	return Reshape(BroadcastToDims(Reshape(low, 1, a.n, 1, d[2]), a.heads, a.n, d[1], d[2]), d...)
}

// laterScores returns what is added to the scores [heads n, T, T]: 0 for a key that is not later
// than the query, and for the others what padding has.
func laterScores(scores *Node) *Node {
	d := scores.Shape().Dimensions
	place := func(axis int) *Node { return Iota(scores.Graph(), shapes.Make(dtypes.Int32, 1, d[1], d[2]), axis) }
	later := ConvertDType(GreaterThan(place(2), place(1)), scores.DType())
	return BroadcastToDims(MulScalar(later, -noKey), d...)
}

// noKey is far above any difference of scores, and finite in bfloat16 too.
const noKey = 1e30

// sumOver returns the products of two stacks of matrices, summed over axis i of a and axis j of b:
// a's other axis, then b's.
func sumOver(a *Node, i int, b *Node, j int) *Node {
	return Dot(a, b).General([]int{i}, []int{0}, []int{j}, []int{0})
}

// softmaxAdjoint is p (dp - sum over the last axis of p dp).
func softmaxAdjoint(p, dp *Node) *Node {
	return Mul(p, Sub(dp, ReduceAndKeep(Mul(p, dp), ReduceSum, -1)))
}

// MultiHead is attention with its four projections, from the tokens queries [d, Tq n] to
// the tokens in [d, Tk n]. w has the weights of multiHeadInit; the mask is that of
// Attention:
//
//	Wo O + bo,  Q = Wq queries + bq,  K = Wk in,  V = Wv in + bv
//
// Keys have no bias, because the softmax over keys cancels it. Its gradient would be
// rounding noise, which Adam would scale up.
func MultiHead(t *Tape, queries, in *Node, w []*Node, mask *Node, heads, records int) *Node {
	return PaddedMultiHead(t, queries, in, w, nil, mask, heads, records)
}

// PaddedMultiHead is MultiHead for records with padding; present is that of PaddedAttention.
func PaddedMultiHead(t *Tape, queries, in *Node, w []*Node, present, mask *Node, heads, records int) *Node {
	q, k, v := projections(t, queries, in, w, records)
	return DenseTokens(t, PaddedAttention(t, q, k, v, present, mask, heads, records), w[5], w[6], records)
}

// projections returns the queries, keys and values of an attention.
func projections(t *Tape, queries, in *Node, w []*Node, records int) (q, k, v *Node) {
	q = DenseTokens(t, queries, w[0], w[1], records)
	k = DenseTokens(t, in, w[2], nil, records)
	v = DenseTokens(t, in, w[3], w[4], records)
	return q, k, v
}

// multiHeadInit draws the seven weights of an attention called name over tokens of the
// given width; out draws those of the last projection.
func multiHeadInit(k, out Initializer, rng *rand.Rand, name string, width int) Params {
	p := k.DenseInit(rng, name+".query", width, width)
	p = append(p, k.DenseInit(rng, name+".key", width, width)[0])
	p = append(p, k.DenseInit(rng, name+".value", width, width)...)
	return append(p, out.DenseInit(rng, name+".out", width, width)...)
}

// MultiHead gives the four projections of an attention PyTorch's names query, key, value
// and out. PyTorch's keys have a bias, which has no effect (see [MultiHead]).
func (d *StateDict) MultiHead(ours, torch string, query, key, value, out string) {
	width := (*d)[d.index(ours+".key.weight")].Shape[0]
	for _, m := range [][2]string{{"query", query}, {"key", key}, {"value", value}, {"out", out}} {
		d.Module(ours+"."+m[0], torch+"."+m[1])
	}
	d.AddUnused(torch+"."+key+".bias", width)
}
