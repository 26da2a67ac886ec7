package nn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// Upsample2 returns the image at twice the height and width by nearest-neighbour
// interpolation.
func Upsample2(t *Tape, m Image) Image {
	out := Image{C: m.C, H: 2 * m.H, W: 2 * m.W, Last: m.Last}
	same, _, _ := m.toGrid()
	out.X = m.fromGrid(interleave([]*Node{same, same, same, same}, 2))
	t.Op(out.X, []*Node{m.X}, func(v *Node) []*Node {
		fine, _, _ := out.withNode(v).toGrid()
		taps := window{size: 2, stride: 2}.pixels(fine)
		return []*Node{m.fromGrid(Add(Add(taps[0], taps[1]), Add(taps[2], taps[3])))}
	})
	return out
}

// Concat appends the channels of b to those of a. The images must have the same height and
// width.
func Concat(t *Tape, a, b Image) Image {
	if a.H != b.H || a.W != b.W {
		panic(fmt.Errorf("concat: an image of %d x %d does not fit one of %d x %d", a.H, a.W, b.H, b.W))
	}
	a, b = a.channelsFirst(t), b.channelsFirst(t)
	out := Image{C: a.C + b.C, H: a.H, W: a.W}
	out.X = t.Op(Concatenate([]*Node{a.X, b.X}, 0), []*Node{a.X, b.X}, func(v *Node) []*Node {
		return []*Node{Slice(v, AxisRange(0, a.C)), Slice(v, AxisRange(a.C, out.C))}
	})
	return out
}

// Features returns the features from ... to-1 of x [d, n].
func Features(t *Tape, x *Node, from, to int) *Node {
	d := x.Shape().Dimensions[0]
	y := Slice(x, AxisRange(from, to))
	return t.Op(y, []*Node{x}, func(v *Node) []*Node {
		return []*Node{pad(v, PadAxis{Start: from, End: d - to}, PadAxis{})}
	})
}

// AddPerRecord adds e [C, n] to the image: one number per record and channel, for all
// pixels of the channel.
func (m Image) AddPerRecord(t *Tape, e *Node) Image {
	m = m.channelsFirst(t)
	out := m.withNode(Add(m.X, m.broadcastPixels(e)))
	t.Op(out.X, []*Node{m.X, e}, func(v *Node) []*Node { return []*Node{v, m.sumPixels(v)} })
	return out
}

// broadcastPixels repeats s [C, n] for every pixel: [C, H*W*n].
func (m Image) broadcastPixels(s *Node) *Node {
	n := s.Shape().Dimensions[1]
	return Reshape(BroadcastToDims(Reshape(s, m.C, 1, n), m.C, m.H*m.W, n), m.C, -1)
}

// sumPixels adds up the pixels of each channel and record: [C, n] from [C, H*W*n].
func (m Image) sumPixels(x *Node) *Node {
	return ReduceSum(Reshape(x, m.C, m.H*m.W, -1), 1)
}
