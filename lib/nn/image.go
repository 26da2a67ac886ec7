package nn

import (
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Image is a batch of feature maps in a graph: a node X [C, H*W*n] whose fastest index is
// the record, then the column, the row and the channel. This is the memory layout of a
// feature-major batch of CHW rows. With Last it is [n*H*W, C], the layout for convolutions;
// see ChannelsLast.
type Image struct {
	C, H, W int
	Last    bool
	X       *Node
}

// NewImage turns x [C*H*W, n], a batch of rows of CHW pixels, into an image.
func NewImage(t *Tape, x *Node, c, h, w int) Image {
	m := Image{C: c, H: h, W: w, X: Reshape(x, c, -1)}
	t.Op(m.X, []*Node{x}, func(v *Node) []*Node { return []*Node{ReshapeWithShape(v, x.Shape())} })
	return m
}

// ChannelsLast returns the image in the layout whose fastest index is the channel. It suits
// networks of convolutions, batch normalisations and ReLU. Group normalisation and
// resampling convert it back.
func (m Image) ChannelsLast(t *Tape) Image { return m.withLayout(t, true) }

// channelsFirst is the inverse of ChannelsLast.
func (m Image) channelsFirst(t *Tape) Image { return m.withLayout(t, false) }

func (m Image) withLayout(t *Tape, last bool) Image {
	if m.Last == last {
		return m
	}
	to := Image{C: m.C, H: m.H, W: m.W, Last: last}
	to.X = t.Op(to.toLayout(m.flatten(m.X)), []*Node{m.X}, func(v *Node) []*Node { return []*Node{m.toLayout(to.flatten(v))} })
	return to
}

// toGrid returns the image with rows and columns as axes, [first, H, W, last]. first and
// last are the numbers of channels and records, or with Last of records and channels.
func (m Image) toGrid() (x *Node, first, last int) {
	first, last = m.C, m.records()
	if m.Last {
		first, last = last, first
	}
	return Reshape(m.X, first, m.H, m.W, last), first, last
}

// fromGrid is the inverse of toGrid, for an x of any size.
func (m Image) fromGrid(x *Node) *Node {
	if m.Last {
		return Reshape(x, -1, m.C)
	}
	return Reshape(x, m.C, -1)
}

// toLayout converts x [C*H*W, n] to the image's layout.
func (m Image) toLayout(x *Node) *Node {
	if !m.Last {
		return Reshape(x, m.C, -1)
	}
	return Reshape(TransposeAllAxes(Reshape(x, m.C, m.H, m.W, -1), 3, 1, 2, 0), -1, m.C)
}

// flatten is the inverse of toLayout.
func (m Image) flatten(x *Node) *Node {
	if !m.Last {
		return Reshape(x, m.C*m.H*m.W, -1)
	}
	return Reshape(TransposeAllAxes(Reshape(x, -1, m.H, m.W, m.C), 3, 1, 2, 0), m.C*m.H*m.W, -1)
}

// rows returns x, which has the image's layout, with one row per channel: [C, H*W*n].
func (m Image) rows(x *Node) *Node { return Reshape(m.flatten(x), m.C, -1) }

// Join returns the image as one node [C*H*W, n].
func (m Image) Join(t *Tape) *Node {
	return t.Op(m.Flat(), []*Node{m.X}, func(v *Node) []*Node { return []*Node{m.toLayout(v)} })
}

// Flat returns the image as one node [C*H*W, n] without a gradient, such as a layer's
// activation to be read.
func (m Image) Flat() *Node { return m.flatten(m.X) }

// withNode returns an image of the same shape with another node.
func (m Image) withNode(x *Node) Image {
	m.X = x
	return m
}

// pixels returns the number of values of a channel over all records.
func (m Image) pixels() int { return m.X.Shape().Size() / m.C }

// records returns the number of records.
func (m Image) records() int { return m.pixels() / (m.H * m.W) }

// broadcastChannel repeats the number of each channel in b, [C, 1] or [C], in the shape of X.
func (m Image) broadcastChannel(b *Node) *Node {
	if m.Last {
		return BroadcastToDims(Reshape(b, 1, m.C), m.pixels(), m.C)
	}
	return broadcastColumn(b, m.pixels())
}

// sumChannel adds up every channel of x, which has the shape of X: [C, 1].
func (m Image) sumChannel(x *Node) *Node {
	axis := 1
	if m.Last {
		axis = 0
	}
	return Reshape(ReduceSum(x, axis), m.C, 1)
}

// ReLU is max(x, 0) with derivative 0 at 0.
func (m Image) ReLU(t *Tape) Image { return m.withNode(ReLUDropout(t, m.X, nil, 0)) }

// Add is the sum of two images of the same shape.
func (m Image) Add(t *Tape, other Image) Image {
	return m.withNode(Residual(t, m.X, other.withLayout(t, m.Last).X))
}

// fillLike returns a node with all elements v, in the precision of like.
func fillLike(like *Node, v float64, dims ...int) *Node {
	return FillScalar(like.Graph(), shapes.Make(like.DType(), dims...), v)
}
