package nn

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
)

// Upsample2 makes four equal pixels of each: the image twice as high and wide by
// its nearest pixel. The gradient of a pixel is the sum of its four.
func Upsample2(t *Tape, m Image) Image {
	m = m.channelsFirst(t)
	out := Image{C: m.C, H: 2 * m.H, W: 2 * m.W}
	for k, x := range m.Parts {
		n := m.records(k)
		same := Reshape(x, m.C, m.H, m.W, n)
		y := Reshape(spreadOut([]*Node{same, same, same, same}, 2), m.C, -1)
		out.Parts = append(out.Parts, t.Op(y, []*Node{x}, func(v *Node) []*Node {
			taps := window{size: 2, stride: 2}.pixels(v, m.C, out.H, out.W, n)
			return []*Node{Reshape(Add(Add(taps[0], taps[1]), Add(taps[2], taps[3])), m.C, -1)}
		}))
	}
	return out
}

// Concat puts the channels of b behind those of a. The images have the same
// sides and the same parts.
func Concat(t *Tape, a, b Image) Image {
	if a.H != b.H || a.W != b.W || len(a.Parts) != len(b.Parts) {
		panic(fmt.Errorf("concat: an image of %d x %d in %d parts does not fit one of %d x %d in %d", a.H, a.W, len(a.Parts), b.H, b.W, len(b.Parts)))
	}
	a, b = a.channelsFirst(t), b.channelsFirst(t)
	out := Image{C: a.C + b.C, H: a.H, W: a.W}
	for k, x := range a.Parts {
		y := Concatenate([]*Node{x, b.Parts[k]}, 0)
		out.Parts = append(out.Parts, t.Op(y, []*Node{x, b.Parts[k]}, func(v *Node) []*Node {
			return []*Node{Slice(v, AxisRange(0, a.C)), Slice(v, AxisRange(a.C, out.C))}
		}))
	}
	return out
}

// Features picks the features from ... to-1 out of x [d, n].
func Features(t *Tape, x *Node, from, to int) *Node {
	d := x.Shape().Dimensions[0]
	y := Slice(x, AxisRange(from, to))
	return t.Op(y, []*Node{x}, func(v *Node) []*Node {
		return []*Node{padded(v, PadAxis{Start: from, End: d - to}, PadAxis{})}
	})
}

// AddPerRecord adds e [C, n] to the image: each record has its own number per
// channel, which every pixel of the channel gets.
func (m Image) AddPerRecord(t *Tape, e *Node) Image {
	m = m.channelsFirst(t)
	var outs []*Node
	at := 0
	for k, x := range m.Parts {
		n := m.records(k)
		part := e
		if len(m.Parts) > 1 {
			part = Slice(e, AxisRange(), AxisRange(at, at+n))
		}
		outs = append(outs, Add(x, m.overPixels(part)))
		at += n
	}
	out := m.with(outs)
	t.Ops(outs, append(append([]*Node{}, m.Parts...), e), func(v []*Node) []*Node {
		sums := make([]*Node, len(v))
		for k, g := range v {
			sums[k] = m.sumPixels(g)
		}
		de := sums[0]
		if len(sums) > 1 {
			de = Concatenate(sums, 1)
		}
		return append(append([]*Node{}, v...), de)
	})
	return out
}

// overPixels repeats s [C, n] for every pixel: [C, H*W*n].
func (m Image) overPixels(s *Node) *Node {
	n := s.Shape().Dimensions[1]
	return Reshape(BroadcastToDims(Reshape(s, m.C, 1, n), m.C, m.H*m.W, n), m.C, -1)
}

// sumPixels adds up the pixels of each channel and record: [C, n] from [C, H*W*n].
func (m Image) sumPixels(x *Node) *Node {
	return ReduceSum(Reshape(x, m.C, m.H*m.W, -1), 1)
}
