// The 2D convolution of images, its bias, and the initial weights of torch.nn.Conv2d.

package nn

import (
	"fmt"
	"math"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"
)

// Conv2D is a 2D convolution (a cross-correlation, as in all of deep learning):
//
//	y[o, r, s] = b[o] + sum_{c,i,j} w[o, c, i, j] x[c, r Stride + i - Pad, s Stride + j - Pad]
//
// with zeros outside the image. A Stride of 0 means 1. There is no dilation and there are
// no groups.
type Conv2D struct{ Stride, Pad int }

// Apply returns the convolution of m, for w [out, C, k, k] and b [out] or nil, as PyTorch
// stores them. The result has (H + 2 Pad - k)/Stride + 1 rows. Forward and gradient are
// GoMLX's.
func (c Conv2D) Apply(t *Tape, m Image, w, b *Node) Image {
	d := w.Shape().Dimensions
	win := window{size: d[2], stride: max(1, c.Stride), pad: c.Pad}
	if d[1] != m.C || d[2] != d[3] || win.out(m.H) < 1 || win.out(m.W) < 1 {
		panic(fmt.Errorf("conv: a kernel of shape %v does not fit on an image of %d x %d x %d with padding %d", d, m.C, m.H, m.W, c.Pad))
	}
	l := convolution{win: win, in: m, out: Image{C: d[0], H: win.out(m.H), W: win.out(m.W), Last: m.Last}, w: w, b: b}
	l.out.X = t.Block(l.inputs(), l.graph)
	t.uses = append(t.uses, convUse{l})
	return l.out
}

type convolution struct {
	win     window
	in, out Image
	w, b    *Node // b may be nil
}

func (l convolution) inputs() []*Node {
	if l.b == nil {
		return []*Node{l.in.X, l.w}
	}
	return []*Node{l.in.X, l.w, l.b}
}

// AddBias adds b [C] to the pixels of each channel. After a max pool it gives the same
// result as inside the convolution before it, on fewer pixels.
func (m Image) AddBias(t *Tape, b *Node) Image {
	out := m.withNode(Add(m.X, m.broadcastChannel(b)))
	t.uses = append(t.uses, biasUse{out, b})
	t.Op(out.X, []*Node{m.X, b}, func(v *Node) []*Node { return []*Node{v, Reshape(m.sumChannel(v), m.C)} })
	return out
}

// graph builds the convolution. A kernel of even size gets a last row and column of zeros,
// and the padding one more pixel, because GoMLX (0.28.3 to 0.28.8) shifts the image's
// gradient by one pixel for even kernels.
func (l convolution) graph(in []*Node) *Node {
	w, border := in[1], [2]int{l.win.pad, l.win.pad}
	if k := l.win.size; k%2 == 0 {
		w = Concatenate([]*Node{w, fillLike(w, 0, l.out.C, l.in.C, k, 1)}, 3)
		w = Concatenate([]*Node{w, fillLike(w, 0, l.out.C, l.in.C, 1, k+1)}, 2)
		border[1]++
	}
	x, axes := l.in.convAxes(in[0])
	y := Convolve(x, w).AxesConfig(axes).Strides(l.win.stride).PaddingPerDim([][2]int{border, border}).Done()
	if l.out.Last {
		y = Reshape(y, -1, l.out.C)
	} else {
		y = Reshape(y, l.out.C, -1)
	}
	if l.b == nil {
		return y
	}
	return Add(y, l.out.withNode(y).broadcastChannel(in[2]))
}

// convAxes returns x with one axis per index, and GoMLX's description of the axes. Kernels
// are [out, in, row, column] in either layout.
func (m Image) convAxes(x *Node) (*Node, ConvolveAxesConfig) {
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
	p := Params{newParam(rng, name+".weight", out, in, k, k)}
	if bias {
		p = append(p, newParam(rng, name+".bias", out))
	}
	for _, v := range p {
		UniformWeights(1/math.Sqrt(float64(in*k*k))).Fill(rng, v.Data)
	}
	return p
}
