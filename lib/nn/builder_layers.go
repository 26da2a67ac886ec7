// Layers that take their weights from a builder: the layers of this package under a name.

package nn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// Dense is W x + b with out outputs for x [in, n]; see [Dense].
func (b *Builder) Dense(name string, x *Node, out int) *Node {
	w := b.Weights(b.initial.DenseInit(b.Rand(), name, x.Shape().Dimensions[0], out)...)
	return Dense(b.Tape, x, w[0], w[1])
}

// DenseTokens is Dense on tokens [in, T n]; see [DenseTokens].
func (b *Builder) DenseTokens(name string, x *Node, out int) *Node {
	w := b.Weights(b.initial.DenseInit(b.Rand(), name, x.Shape().Dimensions[0], out)...)
	return DenseTokens(b.Tape, x, w[0], w[1], b.Records)
}

// Heads are the heads of an attention.
type Heads struct {
	Count   int
	Present *Node       // [Tk, n], 0 where a record has padding; nil: no padding
	Causal  bool        // no token reads a later one, see [CausalAttention]; then there is no Present
	Dropout string      // name of the random input, a mask of the attention's weights; "": none
	Rate    float64     // of Dropout
	Out     Initializer // of the projection of the result; nil: as the others
}

// MultiHead is attention with its projections, from the tokens queries [d, Tq n] to the tokens in
// [d, Tk n]; see [PaddedMultiHead].
func (b *Builder) MultiHead(name string, queries, in *Node, h Heads) *Node {
	d, n := in.Shape().Dimensions, b.Records
	w := b.headWeights(name, d[0], h)
	var mask *Node
	if h.Dropout != "" {
		mask = b.Dropout(h.Dropout, h.Count*(queries.Shape().Dimensions[1]/n)*(d[1]/n), h.Rate)
	}
	switch {
	case !h.Causal:
		return PaddedMultiHead(b.Tape, queries, in, w, h.Present, mask, h.Count, n)
	case h.Present != nil:
		panic(fmt.Errorf("the attention %s is causal, and its padding is masked too; padding that follows the last token needs no mask", name))
	}
	q, k, v := projections(b.Tape, queries, in, w, n)
	return DenseTokens(b.Tape, CausalAttention(b.Tape, q, k, v, mask, h.Count, n), w[5], w[6], n)
}

// headWeights takes the seven weights of an attention.
func (b *Builder) headWeights(name string, width int, h Heads) []*Node {
	out := h.Out
	if out == nil {
		out = b.initial
	}
	return b.Weights(multiHeadInit(b.initial, out, b.Rand(), name, width)...)
}

// NextHeads is the attention of one more token per record, in [d, n], to itself and to those before
// it, whose keys and values were kept; see [NextAttention].
func (b *Builder) NextHeads(name string, in *Node, h Heads, keys, values, before *Node) (out, key, value *Node) {
	w := b.headWeights(name, in.Shape().Dimensions[0], h)
	q, k, v := projections(b.Tape, in, in, w, b.Records)
	out, key, value = NextAttention(q, k, v, keys, values, before, h.Count)
	return DenseTokens(b.Tape, out, w[5], w[6], b.Records), key, value
}

// LayerNorm normalises the columns of x; see [LayerNorm].
func (b *Builder) LayerNorm(name string, x *Node, eps float64) *Node {
	w := b.Weights(LayerNormInit(name, x.Shape().Dimensions[0])...)
	return LayerNorm(b.Tape, x, w[0], w[1], eps, b.Records)
}

// ReLU is max(x, 0).
func (b *Builder) ReLU(x *Node) *Node { return ReLUDropout(b.Tape, x, nil, 0) }

// ReLUDropout is max(x, 0) with dropout for x [d, n]; see [ReLUDropout].
func (b *Builder) ReLUDropout(name string, x *Node, rate float64) *Node {
	return ReLUDropout(b.Tape, x, b.Dropout(name, x.Shape().Dimensions[0], rate), rate)
}

// DropoutTokens is dropout on x [d, T n]; see [DropoutTokens].
func (b *Builder) DropoutTokens(name string, x *Node, rate float64) *Node {
	return DropoutTokens(b.Tape, x, b.Dropout(name, x.Shape().Size()/b.Records, rate))
}

// Kernel is the kernel of a convolution that keeps the size of the image if Stride is 1: it is
// padded by half its Size.
type Kernel struct {
	Out    int // channels of the result
	Size   int // rows and columns
	Stride int // 0: 1
	Bias   bool
}

// Conv is a convolution; see [Conv2D].
func (b *Builder) Conv(name string, m Image, k Kernel) Image {
	w := append(b.Weights(ConvInit(b.Rand(), name, m.C, k.Out, k.Size, k.Bias)...), nil)
	return Conv2D{Stride: k.Stride, Pad: k.Size / 2}.Apply(b.Tape, m, w[0], w[1])
}

// BatchNorm normalises the channels of m over the batch; see [BatchNorm2D].
func (b *Builder) BatchNorm(name string, m Image) Image {
	w := b.Weights(BatchNormInit(name, m.C)...)
	return BatchNorm2D(b.Tape, m, w[0], w[1], w[2], w[3], BatchNormEps)
}

// GroupNorm normalises groups of so many channels of m; see [GroupNorm].
func (b *Builder) GroupNorm(name string, m Image, perGroup int, eps float64) Image {
	w := b.Weights(GroupNormInit(name, m.C)...)
	return GroupNorm(b.Tape, m, m.C/perGroup, w[0], w[1], eps)
}
