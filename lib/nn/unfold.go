package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// window is a square window of the given size and stride over an image padded with zeros.
type window struct{ size, stride, pad int }

// out returns the number of positions of the window along a side of n pixels.
func (w window) out(n int) int { return (n+2*w.pad-w.size)/w.stride + 1 }

// taps returns the number of pixels under the window.
func (w window) taps() int { return w.size * w.size }

func pad(x *Node, axes ...PadAxis) *Node {
	for _, a := range axes {
		if a != (PadAxis{}) {
			return Pad(x, ScalarZero(x.Graph(), x.DType()), axes...)
		}
	}
	return x
}

// pixels returns, for each tap of the window, the pixels under it at all positions: nodes
// [a, OH, OW, b] from x [a, H, W, b].
func (w window) pixels(x *Node) []*Node {
	oh, ow := w.out(x.Shape().Dimensions[1]), w.out(x.Shape().Dimensions[2])
	edge := PadAxis{Start: w.pad, End: w.pad}
	x = pad(x, PadAxis{}, edge, edge, PadAxis{})
	var out []*Node
	for i := range w.size {
		for j := range w.size {
			out = append(out, Slice(x, AxisRange(),
				AxisRange(i, i+(oh-1)*w.stride+1).Stride(w.stride),
				AxisRange(j, j+(ow-1)*w.stride+1).Stride(w.stride), AxisRange()))
		}
	}
	return out
}

// columns returns the matrix of the pixels under the window (im2col), [C*taps, OH*OW*n]
// from x [C, H*W*n].
func (w window) columns(x *Node, c, height, width, n int) *Node {
	if w == (window{1, 1, 0}) {
		return x
	}
	taps := w.pixels(Reshape(x, c, height, width, n))
	for i := range taps {
		taps[i] = Reshape(taps[i], c, 1, -1)
	}
	return Reshape(Concatenate(taps, 1), c*w.taps(), -1)
}

// fold is the adjoint of pixels: it adds every tap, [a, OH, OW, b], to its pixels and
// returns [a, H, W, b]. Taps whose offsets agree modulo the stride are added up on the
// coarse grid first.
func (w window) fold(taps []*Node, height, width int) *Node {
	s := w.stride
	extra := (w.size - 1) / s
	classes := make([]*Node, s*s)
	for i := range w.size {
		for j := range w.size {
			tap := pad(taps[i*w.size+j], PadAxis{},
				PadAxis{Start: i / s, End: extra - i/s}, PadAxis{Start: j / s, End: extra - j/s}, PadAxis{})
			k := i%s*s + j%s
			if classes[k] == nil {
				classes[k] = tap
			} else {
				classes[k] = Add(classes[k], tap)
			}
		}
	}
	sum := interleave(classes, s)
	// The image may end beyond the last window, or before the end of the padding.
	d := sum.Shape().Dimensions
	sum = pad(sum, PadAxis{}, PadAxis{End: max(0, height+w.pad-d[1])}, PadAxis{End: max(0, width+w.pad-d[2])}, PadAxis{})
	d = sum.Shape().Dimensions
	if d[1] != height || d[2] != width {
		sum = Slice(sum, AxisRange(), AxisRange(w.pad, w.pad+height), AxisRange(w.pad, w.pad+width), AxisRange())
	}
	return sum
}

// interleave combines s^2 coarse grids [a, h, w, b], nil for zeros, to the fine grid
// [a, s h, s w, b], whose pixel (y, x) is from grid (y mod s, x mod s).
func interleave(classes []*Node, s int) *Node {
	if s == 1 {
		return classes[0]
	}
	d := classes[0].Shape().Dimensions // every window has a first pixel
	rows := make([]*Node, s)
	for i := range rows {
		row := make([]*Node, s)
		for j := range row {
			if row[j] = classes[i*s+j]; row[j] == nil {
				row[j] = fillLike(classes[0], 0, d...)
			}
			row[j] = Reshape(row[j], d[0], d[1], d[2], 1, d[3])
		}
		rows[i] = Reshape(Concatenate(row, 3), d[0], d[1], 1, s*d[2]*d[3])
	}
	return Reshape(Concatenate(rows, 2), d[0], s*d[1], s*d[2], d[3])
}
