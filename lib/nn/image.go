package nn

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Image is a batch of feature maps inside a graph. Its records may be divided
// into parts, whose nodes do not depend on each other, so that a backend that
// runs independent nodes side by side has work for every core. Each part of n
// records is a [C, H*W*n] node: the record is the fastest index, then the
// column, the row, and the channel, which is how a feature-major batch of CHW
// rows lies in memory already. A shift of a feature map by rows and columns is
// then a shift of long runs of memory, and a convolution's product comes out in
// the layout in which the next one needs it.
//
// With Last it is [n*H*W, C] instead, the layout that the convolutions of
// compilers want; see ChannelsLast.
type Image struct {
	C, H, W int
	Last    bool
	Parts   []*Node
}

// split cuts x [C*H*W, n] into so many parts of about the same size, in the
// image's layout.
func (m Image) split(x *Node, parts int) []*Node {
	n := x.Shape().Dimensions[1]
	out := make([]*Node, parts)
	for k := range out {
		part := x
		if parts > 1 {
			part = Slice(x, AxisRange(), AxisRange(k*n/parts, (k+1)*n/parts))
		}
		out[k] = m.layOut(part)
	}
	return out
}

// layOut gives a part [C*H*W, n] the image's layout.
func (m Image) layOut(x *Node) *Node {
	if !m.Last {
		return Reshape(x, m.C, -1)
	}
	return Reshape(TransposeAllAxes(Reshape(x, m.C, m.H, m.W, -1), 3, 1, 2, 0), -1, m.C)
}

// flatten undoes layOut.
func (m Image) flatten(x *Node) *Node {
	if !m.Last {
		return Reshape(x, m.C*m.H*m.W, -1)
	}
	return Reshape(TransposeAllAxes(Reshape(x, -1, m.H, m.W, m.C), 3, 1, 2, 0), m.C*m.H*m.W, -1)
}

// NewImage turns x [C*H*W, n], a batch of rows of CHW pixels, into an image of
// parts of about the same size: of one where the library's convolution is used,
// which shares its work out by itself.
func NewImage(t *Tape, x *Node, c, h, w, parts int) Image {
	if t.byLibrary(x) {
		parts = 1
	}
	m := Image{C: c, H: h, W: w}
	m.Parts = m.split(x, max(1, min(parts, x.Shape().Dimensions[1])))
	t.Ops(m.Parts, []*Node{x}, func(v []*Node) []*Node { return []*Node{m.with(v).join()} })
	return m
}

// ChannelsLast turns an image so that the channel is its fastest index, where the
// library's convolution is used; elsewhere it stays as it is. It is for networks
// of convolutions, normalisations and ReLU, for which XLA then has nothing to
// turn around in between: pooling, group normalisation and resampling turn it
// back.
func (m Image) ChannelsLast(t *Tape) Image {
	if !t.byLibrary(m.Parts[0]) {
		return m
	}
	return m.turned(t, true)
}

// channelsFirst undoes ChannelsLast.
func (m Image) channelsFirst(t *Tape) Image { return m.turned(t, false) }

func (m Image) turned(t *Tape, last bool) Image {
	if m.Last == last {
		return m
	}
	to := Image{C: m.C, H: m.H, W: m.W, Last: last}
	for _, x := range m.Parts {
		to.Parts = append(to.Parts, t.Op(to.layOut(m.flatten(x)), []*Node{x}, func(v *Node) []*Node {
			return []*Node{m.layOut(to.flatten(v))}
		}))
	}
	return to
}

// Join turns the image back into one node [C*H*W, n].
func (m Image) Join(t *Tape) *Node {
	parts := len(m.Parts)
	return t.Op(m.join(), m.Parts, func(v *Node) []*Node { return m.split(v, parts) })
}

// Flat is the image as one node [C*H*W, n] beside the tape: a layer's activation
// to look at, through which no gradient flows.
func (m Image) Flat() *Node { return m.join() }

func (m Image) join() *Node {
	flat := make([]*Node, len(m.Parts))
	for k, x := range m.Parts {
		flat[k] = m.flatten(x)
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return Concatenate(flat, 1)
}

// with is an image of the same shape with other parts.
func (m Image) with(parts []*Node) Image {
	m.Parts = parts
	return m
}

// pixels is the number of values that every channel of a part has.
func (m Image) pixels(x *Node) int { return x.Shape().Size() / m.C }

// records is the number of records of part k.
func (m Image) records(k int) int { return m.pixels(m.Parts[k]) / (m.H * m.W) }

// stretch repeats the number b of each channel, [C, 1] or [C], in the shape of x.
func (m Image) stretch(b, x *Node) *Node {
	if m.Last {
		return BroadcastToDims(Reshape(b, 1, m.C), m.pixels(x), m.C)
	}
	return stretch(b, m.pixels(x))
}

// total adds up the pixels of every channel of x, [C, 1].
func (m Image) total(x *Node) *Node {
	if m.Last {
		return Reshape(Dot(full(x, 1, 1, m.pixels(x)), x).Product(), m.C, 1)
	}
	return total(x)
}

// each puts f on every part.
func (m Image) each(f func(k int, x *Node) *Node) Image {
	out := make([]*Node, len(m.Parts))
	for k, x := range m.Parts {
		out[k] = f(k, x)
	}
	return m.with(out)
}

// ReLU is max(x, 0) with derivative 0 at 0.
func (m Image) ReLU(t *Tape) Image {
	return m.each(func(_ int, x *Node) *Node { return ReLUDropout(t, x, nil, 0) })
}

// Add is the sum of two images of the same shape.
func (m Image) Add(t *Tape, other Image) Image {
	other = other.turned(t, m.Last)
	return m.each(func(k int, x *Node) *Node { return Residual(t, x, other.Parts[k]) })
}

// full is a node of one value in the precision of like.
func full(like *Node, v float64, dims ...int) *Node {
	return FillScalar(like.Graph(), shapes.Make(like.DType(), dims...), v)
}
