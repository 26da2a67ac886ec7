package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// window is a square window of Size that moves by Stride over an image with a
// border of Pad zeros.
type window struct{ size, stride, pad int }

// out is the number of places of the window along a side of n pixels.
func (w window) out(n int) int { return (n+2*w.pad-w.size)/w.stride + 1 }

// taps is the number of pixels under the window.
func (w window) taps() int { return w.size * w.size }

func padded(x *Node, axes ...PadAxis) *Node {
	for _, a := range axes {
		if a != (PadAxis{}) {
			return Pad(x, ScalarZero(x.Graph(), x.DType()), axes...)
		}
	}
	return x
}

// pixels lists, per tap of the window, what lies under it: nodes [C, OH, OW, n]
// from x [C, H*W*n].
func (w window) pixels(x *Node, c, height, width, n int) []*Node {
	edge := PadAxis{Start: w.pad, End: w.pad}
	x = padded(Reshape(x, c, height, width, n), PadAxis{}, edge, edge, PadAxis{})
	oh, ow := w.out(height), w.out(width)
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

// columns is the matrix of what the window sees, [C*taps, OH*OW*n].
func (w window) columns(x *Node, c, height, width, n int) *Node {
	if w == (window{1, 1, 0}) {
		return x
	}
	taps := w.pixels(x, c, height, width, n)
	for i := range taps {
		taps[i] = Reshape(taps[i], c, 1, -1)
	}
	return Reshape(Concatenate(taps, 1), c*w.taps(), -1)
}

// fold is the adjoint of pixels: it adds what every tap gives, [C, OH, OW, n],
// to the pixels that the tap looked at, and returns [C, H*W*n]. Taps whose
// places agree modulo the stride are added up on the coarse grid first; only
// their sums are spread over the fine one.
func (w window) fold(taps []*Node, c, height, width, n int) *Node {
	s := w.stride
	extra := (w.size - 1) / s
	classes := make([]*Node, s*s)
	for i := range w.size {
		for j := range w.size {
			tap := padded(taps[i*w.size+j], PadAxis{},
				PadAxis{Start: i / s, End: extra - i/s}, PadAxis{Start: j / s, End: extra - j/s}, PadAxis{})
			k := i%s*s + j%s
			if classes[k] == nil {
				classes[k] = tap
			} else {
				classes[k] = Add(classes[k], tap)
			}
		}
	}
	sum := spreadOut(classes, s)
	// The image may end beyond what any window reaches, or before the border does.
	d := sum.Shape().Dimensions
	sum = padded(sum, PadAxis{}, PadAxis{End: max(0, height+w.pad-d[1])}, PadAxis{End: max(0, width+w.pad-d[2])}, PadAxis{})
	d = sum.Shape().Dimensions
	if d[1] != height || d[2] != width {
		sum = Slice(sum, AxisRange(), AxisRange(w.pad, w.pad+height), AxisRange(w.pad, w.pad+width), AxisRange())
	}
	return Reshape(sum, c, -1)
}

// spreadOut puts s^2 coarse grids [C, h, w, n], nil for zeros, together to the
// fine grid [C, s h, s w, n], whose pixel (y, x) is that of grid (y mod s, x mod
// s). Concatenations move whole runs of memory.
func spreadOut(classes []*Node, s int) *Node {
	if s == 1 {
		return classes[0]
	}
	d := classes[0].Shape().Dimensions // every window has a first pixel
	rows := make([]*Node, s)
	for i := range rows {
		row := make([]*Node, s)
		for j := range row {
			if row[j] = classes[i*s+j]; row[j] == nil {
				row[j] = full(classes[0], 0, d...)
			}
			row[j] = Reshape(row[j], d[0], d[1], d[2], 1, d[3])
		}
		rows[i] = Reshape(Concatenate(row, 3), d[0], d[1], 1, s*d[2]*d[3])
	}
	return Reshape(Concatenate(rows, 2), d[0], s*d[1], s*d[2], d[3])
}

// sheet is the fast form of columns for windows of odd size that keep the
// image's size. Rows of pixels are laid out with pad zeros after each, and pad
// rows of zeros after the image, so that a tap is the whole image shifted in
// memory. One concatenation of shifted copies, with gaps of zeros between them,
// makes all taps at once by moving long runs of memory: several times faster on
// the Go backend than a strided copy per tap. Places in the margin hold other
// pixels; whoever multiplies a sheet takes a margin of zeros or cuts it off.
type sheet struct{ c, height, width, n, size int }

// fits tells whether the window keeps the image's size and its margin is a
// small part of the sheet.
func (w window) fits(height, width int) bool {
	return w.stride == 1 && w.size > 1 && w.pad > 0 && 2*w.pad == w.size-1 && height >= 12*w.pad && width >= 12*w.pad
}

func (s sheet) pad() int   { return (s.size - 1) / 2 }
func (s sheet) pitch() int { return s.width + s.pad() }

// margin lays x [C, H*W*n] out with rows zeros below: [C, (H+rows)*pitch*n].
func (s sheet) margin(x *Node, rows int) *Node {
	x = Concatenate([]*Node{Reshape(x, s.c, s.height, s.width*s.n), full(x, 0, s.c, s.height, s.pad()*s.n)}, 2)
	x = Reshape(x, s.c, -1)
	if rows == 0 {
		return x
	}
	return Concatenate([]*Node{x, full(x, 0, s.c, rows*s.pitch()*s.n)}, 1)
}

// columns is [C*taps, (H+pad)*pitch*n].
func (s sheet) columns(x *Node) *Node {
	p, pitch := s.pad(), s.pitch()
	x = s.margin(x, 0)
	length, row := s.height*pitch, (s.height+p)*pitch
	var parts []*Node
	at := 0 // pixels laid down so far
	for i := range s.size {
		for j := range s.size {
			start := (i*s.size+j)*row - (i-p)*pitch - (j - p)
			if start > at {
				parts = append(parts, full(x, 0, s.c, (start-at)*s.n))
			}
			parts = append(parts, x)
			at = start + length
		}
	}
	parts = append(parts, full(x, 0, s.c, (s.size*s.size*row-at)*s.n))
	return Reshape(Concatenate(parts, 1), s.c*s.size*s.size, row*s.n)
}

// trim cuts the margin off a product y [m, (H+pad)*pitch*n].
func (s sheet) trim(y *Node) *Node {
	m := y.Shape().Dimensions[0]
	y = Reshape(y, m, s.height+s.pad(), s.pitch()*s.n)
	return Reshape(Slice(y, AxisRange(), AxisRange(0, s.height), AxisRange(0, s.width*s.n)), m, -1)
}
