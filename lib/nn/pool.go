package nn

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
)

// Pool2D is pooling with a window of Size x Size and a Stride (0: Size). There is no
// padding; rows and columns that fill no window are dropped, as in PyTorch.
type Pool2D struct{ Size, Stride int }

func (p Pool2D) window(m Image) (window, Image) {
	w := window{size: p.Size, stride: p.Stride}
	if w.stride == 0 {
		w.stride = w.size
	}
	out := Image{C: m.C, H: w.out(m.H), W: w.out(m.W), Last: m.Last}
	if p.Size < 1 || w.stride < 1 || m.H < p.Size || m.W < p.Size {
		panic(fmt.Errorf("pool: a window of size %d with stride %d does not fit on an image of %d x %d", p.Size, w.stride, m.H, m.W))
	}
	return w, out
}

// Max returns the largest pixel of each window. The first of equal pixels, row by row, gets
// the whole gradient, as in PyTorch.
func (p Pool2D) Max(t *Tape, m Image) Image {
	w, out := p.window(m)
	x, _, _ := m.toGrid()
	taps := w.pixels(x)
	y := taps[0]
	for _, tap := range taps[1:] {
		y = Max(y, tap)
	}
	out.X = t.Op(m.fromGrid(y), []*Node{m.X}, func(v *Node) []*Node {
		v = ReshapeWithShape(v, y.Shape())
		return []*Node{m.fromGrid(w.fold(routeToFirst(v, y, taps), m.H, m.W))}
	})
	return out
}

// routeToFirst passes every element of v to the first tap that equals y there. It needs no
// comparison: min((y - tap) huge, 1) is 0 at the maximum and 1 elsewhere.
func routeToFirst(v, y *Node, taps []*Node) []*Node {
	out := make([]*Node, len(taps))
	for k, tap := range taps {
		if k == len(taps)-1 {
			out[k] = v
			break
		}
		rest := Mul(v, MinScalar(MulScalar(Sub(y, tap), huge), 1))
		out[k] = Sub(v, rest)
		v = rest
	}
	return out
}

// Mean returns the mean of the pixels of each window.
func (p Pool2D) Mean(t *Tape, m Image) Image {
	w, out := p.window(m)
	x, _, _ := m.toGrid()
	taps, share := w.pixels(x), 1/float64(w.taps())
	y := taps[0]
	for _, tap := range taps[1:] {
		y = Add(y, tap)
	}
	y = MulScalar(y, share)
	out.X = t.Op(m.fromGrid(y), []*Node{m.X}, func(v *Node) []*Node {
		v = MulScalar(ReshapeWithShape(v, y.Shape()), share)
		return []*Node{m.fromGrid(w.fold(slices.Repeat([]*Node{v}, w.taps()), m.H, m.W))}
	})
	return out
}

// GlobalMean returns the mean of each channel over the image, an image of one pixel.
func GlobalMean(t *Tape, m Image) Image {
	out := Image{C: m.C, H: 1, W: 1, Last: m.Last}
	area := m.H * m.W
	_, first, last := m.toGrid() // the pixels of a record are the middle axis in either layout
	out.X = DivScalar(ReduceSum(Reshape(m.X, first, area, last), 1), float64(area))
	t.Op(out.X, []*Node{m.X}, func(v *Node) []*Node {
		v = Reshape(DivScalar(v, float64(area)), first, 1, last)
		return []*Node{ReshapeWithShape(BroadcastToDims(v, first, area, last), m.X.Shape())}
	})
	return out
}
