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
type Image struct {
	C, H, W int
	Parts   []*Node
}

// imageOf turns x [C*H*W, n] into an image of so many parts of about the same
// size.
func imageOf(x *Node, c, h, w, parts int) Image {
	n := x.Shape().Dimensions[1]
	m := Image{C: c, H: h, W: w}
	for k := range parts {
		part := x
		if parts > 1 {
			part = Slice(x, AxisRange(), AxisRange(k*n/parts, (k+1)*n/parts))
		}
		m.Parts = append(m.Parts, Reshape(part, c, -1))
	}
	return m
}

// NewImage turns x [C*H*W, n], a batch of rows of CHW pixels, into an image of
// parts of about the same size: of one where the library's convolution is used,
// which shares its work out by itself.
func NewImage(t *Tape, x *Node, c, h, w, parts int) Image {
	if t.byLibrary(x) {
		parts = 1
	}
	parts = max(1, min(parts, x.Shape().Dimensions[1]))
	m := imageOf(x, c, h, w, parts)
	t.Ops(m.Parts, []*Node{x}, func(v []*Node) []*Node { return []*Node{m.with(v).join()} })
	return m
}

// Join turns the image back into one node [C*H*W, n].
func (m Image) Join(t *Tape) *Node {
	parts := len(m.Parts)
	return t.Op(m.join(), m.Parts, func(v *Node) []*Node { return imageOf(v, m.C, m.H, m.W, parts).Parts })
}

// Flat is the image as one node [C*H*W, n] beside the tape: a layer's activation
// to look at, through which no gradient flows.
func (m Image) Flat() *Node { return m.join() }

func (m Image) join() *Node {
	flat := make([]*Node, len(m.Parts))
	for k, x := range m.Parts {
		flat[k] = Reshape(x, m.C*m.H*m.W, -1)
	}
	if len(flat) == 1 {
		return flat[0]
	}
	return Concatenate(flat, 1)
}

// with is an image of the same shape with other parts.
func (m Image) with(parts []*Node) Image { return Image{C: m.C, H: m.H, W: m.W, Parts: parts} }

// records is the number of records of part k.
func (m Image) records(k int) int { return m.Parts[k].Shape().Dimensions[1] / (m.H * m.W) }

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
	return m.each(func(k int, x *Node) *Node { return Residual(t, x, other.Parts[k]) })
}

// full is a node of one value in the precision of like.
func full(like *Node, v float64, dims ...int) *Node {
	return FillScalar(like.Graph(), shapes.Make(like.DType(), dims...), v)
}
