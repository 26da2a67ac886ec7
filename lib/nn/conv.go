package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"
)

// Conv2D is a convolution in the sense of deep learning, a cross-correlation:
//
//	y[o, r, s] = b[o] + sum_{c,i,j} w[o, c, i, j] x[c, r Stride + i - Pad, s Stride + j - Pad]
//
// with zeros outside the image. The zero Stride is 1; there is no dilation and
// there are no groups.
type Conv2D struct{ Stride, Pad int }

// Apply puts the convolution of m on the tape, for w [out, C, k, k] and b [out]
// or nil, as PyTorch stores them. The result has (H + 2 Pad - k)/Stride + 1 rows.
//
// On the pure-Go backend it is one matrix product per part with the matrix of
// what the window sees, whose rows are (channel, tap) and whose columns are
// (row, column, record). Two backward steps are used. On large images the
// adjoint's own sheet V gives both gradients, dx = w' V with the flipped,
// transposed kernel w' and dw' = x V^T, so that no matrix of the forward pass is
// kept. On small images, and for strides, the forward matrix X is kept:
// dw = v X^T, and dx adds up the shifted rows of w^T v.
//
// On other backends it is the library's convolution with the library's gradient.
func (c Conv2D) Apply(t *Tape, m Image, w, b *Node) Image {
	d := w.Shape().Dimensions
	win := window{size: d[2], stride: max(1, c.Stride), pad: c.Pad}
	if d[1] != m.C || d[2] != d[3] || win.out(m.H) < 1 || win.out(m.W) < 1 {
		panic(fmt.Errorf("conv: a kernel of shape %v does not fit on an image of %d x %d x %d with a border of %d", d, m.C, m.H, m.W, c.Pad))
	}
	out := Image{C: d[0], H: win.out(m.H), W: win.out(m.W), Last: m.Last}
	for k, x := range m.Parts {
		l := convolution{win: win, in: m, out: out, n: m.records(k), x: x, w: w, b: b}
		out.Parts = append(out.Parts, l.apply(t))
	}
	return out
}

// byLibrary tells whether convolutions are left to the library.
func (t *Tape) byLibrary(x *Node) bool {
	return t.Library || !byGo(x)
}

// convolution is that of one part.
type convolution struct {
	win     window
	in, out Image // for their sizes
	n       int
	x, w, b *Node // b may be nil
}

func (l convolution) apply(t *Tape) *Node {
	y := l.product(t)
	t.uses = append(t.uses, convUse{l, y})
	return y
}

func (l convolution) product(t *Tape) *Node {
	switch {
	case t.byLibrary(l.x):
		return t.Block(l.inputs(), l.library)
	// The input's few channels make its own matrix cheap to keep.
	case l.win.fits(l.in.H, l.in.W) && 4*l.in.C > l.out.C:
		return l.wide(t)
	}
	return l.narrow(t)
}

func (l convolution) inputs() []*Node {
	if l.b == nil {
		return []*Node{l.x, l.w}
	}
	return []*Node{l.x, l.w, l.b}
}

// matrix is the kernel as [out, C*taps].
func (l convolution) matrix() *Node { return Reshape(l.w, l.out.C, -1) }

func (l convolution) biased(y *Node) *Node {
	if l.b == nil {
		return y
	}
	return Add(y, stretch(l.b, y.Shape().Dimensions[1]))
}

// AddBias adds b [C] to the pixels of each channel. After a pool it costs a
// fraction of what it costs inside the convolution before it, for the same
// result: the largest of shifted pixels is the shifted largest.
func (m Image) AddBias(t *Tape, b *Node) Image {
	return m.each(func(_ int, x *Node) *Node {
		y := Add(x, m.stretch(b, x))
		t.uses = append(t.uses, biasUse{m, b, y})
		return t.Op(y, []*Node{x, b}, func(v *Node) []*Node { return []*Node{v, Reshape(m.total(v), m.C)} })
	})
}

// gradients appends the bias's to those of the image and the kernel.
func (l convolution) gradients(v, dx, dw *Node) []*Node {
	if l.b == nil {
		return []*Node{dx, dw}
	}
	return []*Node{dx, dw, sumColumns(v)}
}

func (l convolution) wide(t *Tape) *Node {
	s := sheet{l.in.C, l.in.H, l.in.W, l.n, l.win.size}
	y := l.biased(s.trim(Dot(l.matrix(), s.columns(l.x)).Product()))
	return t.Op(y, l.inputs(), func(v *Node) []*Node {
		sv := sheet{l.out.C, l.in.H, l.in.W, l.n, l.win.size}
		columns := sv.columns(v)
		flipped := Reshape(TransposeAllAxes(Reverse(l.w, 2, 3), 1, 0, 2, 3), l.in.C, -1)
		dx := s.trim(Dot(flipped, columns).Product())
		// The long matrix stands first: the backend packs that side faster.
		dw := Reshape(matT(columns, s.margin(l.x, s.pad())), l.out.C, l.win.size, l.win.size, l.in.C)
		return l.gradients(v, dx, Reverse(TransposeAllAxes(dw, 0, 3, 1, 2), 2, 3))
	})
}

func (l convolution) narrow(t *Tape) *Node {
	columns := l.win.columns(l.x, l.in.C, l.in.H, l.in.W, l.n)
	y := l.biased(Dot(l.matrix(), columns).Product())
	return t.Op(y, l.inputs(), func(v *Node) []*Node {
		dw := ReshapeWithShape(matT(v, columns), l.w.Shape())
		seen := Dot(Transpose(l.matrix(), 0, 1), v).Product()
		return l.gradients(v, l.unseen(seen), dw)
	})
}

// unseen adds the adjoint of the matrix of what the window sees up to that of
// the image.
func (l convolution) unseen(seen *Node) *Node {
	if l.win == (window{1, 1, 0}) {
		return seen
	}
	seen = Reshape(seen, l.in.C, l.win.taps(), l.out.H, l.out.W, l.n)
	taps := make([]*Node, l.win.taps())
	for k := range taps {
		taps[k] = Reshape(Slice(seen, AxisRange(), AxisRange(k, k+1)), l.in.C, l.out.H, l.out.W, l.n)
	}
	return l.win.fold(taps, l.in.C, l.in.H, l.in.W, l.n)
}

// library is the same convolution by GoMLX's own operation. A kernel of even size
// gets a last row and column of zeros, and the border one more pixel to hold
// them: GoMLX (0.28.3 to 0.28.8) shifts the image's gradient by a pixel for even kernels.
func (l convolution) library(in []*Node) *Node {
	w, border := in[1], [2]int{l.win.pad, l.win.pad}
	if k := l.win.size; k%2 == 0 {
		w = Concatenate([]*Node{w, full(w, 0, l.out.C, l.in.C, k, 1)}, 3)
		w = Concatenate([]*Node{w, full(w, 0, l.out.C, l.in.C, 1, k+1)}, 2)
		border[1]++
	}
	x, axes := l.in.axes(in[0])
	y := Convolve(x, w).AxesConfig(axes).Strides(l.win.stride).PaddingPerDim([][2]int{border, border}).Done()
	if l.out.Last {
		y = Reshape(y, -1, l.out.C)
	} else {
		y = Reshape(y, l.out.C, -1)
	}
	if l.b == nil {
		return y
	}
	return Add(y, l.out.stretch(in[2], y))
}

// axes is a part with an axis for each index, and what the library is told of
// them. Kernels are [out, in, row, column] in either layout.
func (m Image) axes(x *Node) (*Node, ConvolveAxesConfig) {
	dims, records, channels := []int{m.C, m.H, m.W, -1}, 3, 0
	if m.Last {
		dims, records, channels = []int{-1, m.H, m.W, m.C}, 0, 3
	}
	return Reshape(x, dims...), ConvolveAxesConfig{
		InputBatch: records, InputChannels: channels, InputSpatial: []int{1, 2},
		KernelInputChannels: 1, KernelOutputChannels: 0, KernelSpatial: []int{2, 3},
		OutputBatch: records, OutputChannels: channels, OutputSpatial: []int{1, 2},
	}
}

// ConvInit draws the kernel [out, in, k, k] of a convolution called name, and
// its bias [out] if it has one, as torch.nn.Conv2d does: both are uniform on
// +-1/sqrt(in k k).
func ConvInit(rng *rand.Rand, name string, in, out, k int, bias bool) Params {
	p := Params{NewParam(name+".weight", out, in, k, k)}
	if bias {
		p = append(p, NewParam(name+".bias", out))
	}
	for _, v := range p {
		uniform(rng, v.Data, 1/math.Sqrt(float64(in*k*k)))
	}
	return p
}
