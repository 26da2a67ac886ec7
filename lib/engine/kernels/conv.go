package kernels

import (
	"errors"
	"fmt"
	"math"
)

// ConvShape is a convolution of images in the layout [batch, height, width, channels], with
// weights [kernel height, kernel width, in, out]:
//
//	y[n, i, j, o] = sum x[n, i StrideH + a - Top, j StrideW + b - Left, c] w[a, b, c, o]
//
// over a, b and c, where x is 0 outside the image.
type ConvShape struct {
	Batch, Height, Width, In, Out int
	KernelH, KernelW              int
	StrideH, StrideW              int
	Top, Bottom, Left, Right      int // padding
}

// OutHeight returns the height of y's images.
func (s ConvShape) OutHeight() int { return (s.Height+s.Top+s.Bottom-s.KernelH)/s.StrideH + 1 }

// OutWidth returns the width of y's images.
func (s ConvShape) OutWidth() int { return (s.Width+s.Left+s.Right-s.KernelW)/s.StrideW + 1 }

func (s ConvShape) check() error {
	for _, n := range []struct {
		name    string
		n, from int
	}{
		{"batch", s.Batch, 1}, {"height", s.Height, 1}, {"width", s.Width, 1}, {"in channels", s.In, 1}, {"out channels", s.Out, 1},
		{"kernel height", s.KernelH, 1}, {"kernel width", s.KernelW, 1}, {"stride down", s.StrideH, 1}, {"stride across", s.StrideW, 1},
		{"padding at the top", s.Top, 0}, {"padding at the bottom", s.Bottom, 0}, {"padding left", s.Left, 0}, {"padding right", s.Right, 0},
	} {
		if n.n < n.from || n.n > math.MaxInt32 {
			return fmt.Errorf("convolution: %s is %d, not at least %d", n.name, n.n, n.from)
		}
	}
	if s.KernelH > s.Height+s.Top+s.Bottom || s.KernelW > s.Width+s.Left+s.Right {
		return fmt.Errorf("convolution: a kernel of %d x %d is larger than images of %d x %d with their padding",
			s.KernelH, s.KernelW, s.Height+s.Top+s.Bottom, s.Width+s.Left+s.Right)
	}
	for name, sizes := range map[string][]int{
		"x": {s.Batch, s.Height, s.Width, s.In}, "w": {s.KernelH, s.KernelW, s.In, s.Out}, "y": {s.Batch, s.OutHeight(), s.OutWidth(), s.Out},
	} {
		size := 1.0
		for _, n := range sizes {
			size *= float64(n)
		}
		if size > math.MaxInt32*64 || size > math.MaxInt/8 {
			return fmt.Errorf("convolution: %s has %v elements", name, size)
		}
	}
	return nil
}

// Conv is a convolution with its two gradients, as matrix products. One of the factors, the
// matrix of the patches of an image, is built piece by piece and never as a whole. Every
// element is one chain of fused multiply-adds: of y over (a, b, c) in that order, of dw over
// (n, i, j), of dx over the pixels of v in order and over o; outside the image the factors
// are 0. Some shapes use tiles with other chains, see the comment in winograd.go. The bits do
// not depend on level and workers. A Conv is safe for concurrent use.
type Conv struct {
	shape   ConvShape
	forward window
	phases  []phase
}

// PlanConv returns the Conv of a shape, or an error if the shape is invalid.
func PlanConv(s ConvShape) (*Conv, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	c := &Conv{shape: s, forward: window{s.Height, s.Width, s.In, s.OutHeight(), s.OutWidth(), s.KernelH, s.KernelW, s.StrideH, s.StrideW, s.Top, s.Left}}
	for i := range min(s.StrideH, s.Height) {
		for j := range min(s.StrideW, s.Width) {
			c.phases = append(c.phases, s.phase(i, j))
		}
	}
	return c, nil
}

func (s ConvShape) weightSize() int { return s.KernelH * s.KernelW * s.In * s.Out }
func (s ConvShape) inputSize() int  { return s.Batch * s.Height * s.Width * s.In }
func (s ConvShape) outputSize() int { return s.Batch * s.OutHeight() * s.OutWidth() * s.Out }

func (s ConvShape) checkSizes(x, w, y int) error {
	for _, n := range []struct {
		name       string
		have, want int
	}{{"x", x, s.inputSize()}, {"w", w, s.weightSize()}, {"y", y, s.outputSize()}} {
		if n.have != n.want {
			return fmt.Errorf("convolution: %[2]s or its gradient has %[1]d elements, not %[3]d", n.have, n.name, n.want)
		}
	}
	return nil
}

// window describes the patches of an image: output (i, j) has the kernelH x kernelW pixels
// from (i strideH - top, j strideW - left) on.
type window struct {
	height, width, depth int
	down, across         int // outputs per image
	kernelH, kernelW     int
	strideH, strideW     int
	top, left            int
}

func (w window) terms() int { return w.kernelH * w.kernelW * w.depth }

// place is the image, row and column of an output.
type place struct{ n, i, j int }

func (w window) place(pixel int) place {
	row := pixel / w.across
	return place{row / w.down, row % w.down, pixel % w.across}
}

// patches writes terms from ... from+terms-1 of the patches of count outputs, from the one
// at p on, to dst. Consecutive patches are apart elements apart.
func (w window) patches(dst []float32, apart int, x []float32, p place, count, from, terms int) {
	for terms > 0 && count > 0 {
		n := min(count, w.across-p.j)
		w.row(dst, apart, x, p, n, from, terms)
		if count -= n; count > 0 {
			dst = dst[n*apart:]
			p = w.place((p.n*w.down + p.i + 1) * w.across)
		}
	}
}

// row is patches for outputs of one row. Each row of the kernel is contiguous in the image.
func (w window) row(dst []float32, apart int, x []float32, p place, count, from, terms int) {
	line, size, step := w.kernelW*w.depth, w.width*w.depth, w.strideW*w.depth
	i, u := p.i*w.strideH-w.top+from/line, from%line
	for done := 0; done < terms; {
		n := min(terms-done, line-u)
		var pixels []float32
		if i >= 0 && i < w.height {
			pixels = x[(p.n*w.height+i)*size:][:size]
		}
		at := p.j*step - w.left*w.depth + u
		for r := range count {
			copyPadded(dst[r*apart+done:][:n], pixels, at+r*step)
		}
		done, i, u = done+n, i+1, 0
	}
}

// copyPadded copies row[from:] to dst, with 0 outside the row.
func copyPadded(dst, row []float32, from int) {
	const short = 16 // up to this length a loop is faster than copy
	switch {
	case from < 0 || from+len(dst) > len(row):
		copyPaddedEdge(dst, row, from)
	case len(dst) <= short:
		for i, v := range row[from:][:len(dst)] {
			dst[i] = v
		}
	default:
		copy(dst, row[from:])
	}
}

// copyPaddedEdge is copyPadded for ranges that reach outside the row.
func copyPaddedEdge(dst, row []float32, from int) {
	before := min(len(dst), max(0, -from))
	clear(dst[:before])
	n := 0
	if before < len(dst) && from+before < len(row) {
		n = copy(dst[before:], row[from+before:])
	}
	clear(dst[before+n:])
}

// target is the memory of outputs: that at (n, i, j) is data[base + n image + i line +
// j step:].
type target struct {
	data                    []float32
	base, image, line, step int
}

func (t target) index(p place) int { return t.base + p.n*t.image + p.i*t.line + p.j*t.step }

// evenlySpaced reports whether all outputs are step apart, also across rows and images.
func (t target) evenlySpaced(w window) bool {
	return t.line == w.across*t.step && t.image == w.down*t.line
}

// phase is the gradient of the pixels of x whose row and column have the same remainders
// modulo the strides. It is a convolution of the gradient of y, without strides, with every
// StrideH-th row and StrideW-th column of the reversed kernel.
type phase struct {
	window
	row, col         int // of the first pixel
	kernelI, kernelJ int // of the first row and column of the kernel
}

func (s ConvShape) phase(row, col int) phase {
	// Along one axis: pixels at + a stride, and elements first + k stride of the kernel.
	side := func(at, size, pad, kernel, stride int) (pixels, first, rows, shift int) {
		pixels, first = (size-at+stride-1)/stride, (at+pad)%stride
		rows = max(0, (kernel-first+stride-1)/stride)
		return pixels, first, rows, rows - 1 - (at+pad-first)/stride
	}
	p := phase{row: row, col: col, window: window{height: s.OutHeight(), width: s.OutWidth(), depth: s.Out, strideH: 1, strideW: 1}}
	p.down, p.kernelI, p.kernelH, p.top = side(row, s.Height, s.Top, s.KernelH, s.StrideH)
	p.across, p.kernelJ, p.kernelW, p.left = side(col, s.Width, s.Left, s.KernelW, s.StrideW)
	return p
}

// Scratch returns the number of elements of scratch memory that Forward, BackwardData and
// BackwardWeights need. Its contents are undefined, before and after.
func (c *Conv) Scratch() (forward, data, weights int) {
	s := c.shape
	forward, data = c.forward.factors(s.Out), s.weightSize()
	for _, ph := range c.phases {
		data = max(data, s.weightSize()+ph.factors(s.In))
	}
	if c.forward.tiled(s.Out) {
		weights = 16 * (s.In*s.Out + rowPadding)
	}
	return forward, data, weights
}

func checkScratch(scratch []float32, n int) error {
	if len(scratch) < n {
		return fmt.Errorf("convolution: %d elements of scratch memory, %d needed", len(scratch), n)
	}
	return nil
}

// Forward computes y.
func (c *Conv) Forward(p Pool, scratch, y, x, w []float32) error {
	return c.forwardAt(best, p, scratch, y, x, w)
}

func (c *Conv) forwardAt(l Level, p Pool, scratch, y, x, w []float32) error {
	s := c.shape
	need, _, _ := c.Scratch()
	if err := errors.Join(s.checkSizes(len(x), len(w), len(y)), checkScratch(scratch, need)); err != nil {
		return err
	}
	to := target{y, 0, s.OutHeight() * s.OutWidth() * s.Out, s.OutWidth() * s.Out, s.Out}
	l.convolve(p, scratch, c.forward, s.Batch, to, x, RowMajor(w, c.forward.terms(), s.Out))
	return nil
}

// convolve multiplies the patches of x by b, in pieces of output pixels and channels.
func (l Level) convolve(p Pool, scratch []float32, w window, batch int, to target, x []float32, b Matrix[float32]) {
	if w.tiled(b.Cols) {
		l.convolveTiles(p, scratch, w, batch, to, x, b)
		return
	}
	t, pixels := tileFor[float32](l, b.Cols), batch*w.down*w.across
	g := grid{pixels, b.Cols, t.rows, 2 * t.lanes, 1, 1}
	if p.Workers > 1 && float64(pixels)*float64(b.Rows)*float64(b.Cols) >= minParallelWork {
		g = cutGrid(pixels, b.Cols, t.rows, 2*t.lanes, p.Workers)
	}
	g = g.limitHeight()
	p.Run(g.pieces(), 1, func(from, last int) {
		for i := from; i < last; i++ {
			r0, r1, c0, c1 := g.piece(i)
			part := to
			part.base += c0
			w.convolve(t, part, x, b.part(0, b.Rows, c0, c1), r0, r1)
		}
	})
}

// BackwardData sets dx to the gradient of sum(v y) by x.
func (c *Conv) BackwardData(p Pool, scratch, dx, v, w []float32) error {
	return c.backwardDataAt(best, p, scratch, dx, v, w)
}

func (c *Conv) backwardDataAt(l Level, p Pool, scratch, dx, v, w []float32) error {
	s := c.shape
	_, need, _ := c.Scratch()
	if err := errors.Join(s.checkSizes(len(dx), len(w), len(v)), checkScratch(scratch, need)); err != nil {
		return err
	}
	flipped := takeFront(&scratch, s.weightSize()) // the weights in the order of the phases
	for _, ph := range c.phases {
		to := target{dx, (ph.row*s.Width + ph.col) * s.In, s.Height * s.Width * s.In, s.StrideH * s.Width * s.In, s.StrideW * s.In}
		b := RowMajor(flipped[:ph.terms()*s.In], ph.terms(), s.In)
		p.Run(ph.kernelH*ph.kernelW, 1, func(from, last int) {
			for tap := from; tap < last; tap++ {
				i := ph.kernelI + (ph.kernelH-1-tap/ph.kernelW)*s.StrideH
				j := ph.kernelJ + (ph.kernelW-1-tap%ph.kernelW)*s.StrideW
				one := Matrix[float32]{w[(i*s.KernelW+j)*s.In*s.Out:], s.Out, s.In, 1, s.Out}
				tileAt[float32](l).packColumns(b.Data[tap*s.Out*s.In:], one, s.In)
			}
		})
		l.convolve(p, scratch, ph.window, s.Batch, to, v, b)
	}
	return nil
}

// BackwardWeights sets dw to the gradient of sum(v y) by w.
func (c *Conv) BackwardWeights(p Pool, scratch, dw, x, v []float32) error {
	return c.backwardWeightsAt(best, p, scratch, dw, x, v)
}

func (c *Conv) backwardWeightsAt(l Level, p Pool, scratch, dw, x, v []float32) error {
	s := c.shape
	_, _, need := c.Scratch()
	if err := errors.Join(s.checkSizes(len(x), len(dw), len(v)), checkScratch(scratch, need)); err != nil {
		return err
	}
	if c.forward.tiled(s.Out) {
		c.weightsTiled(l, p, scratch, dw, x, v)
		return nil
	}
	t, terms, pixels := tileFor[float32](l, s.Out), c.forward.terms(), s.Batch*s.OutHeight()*s.OutWidth()
	out, b := RowMajor(dw, terms, s.Out), RowMajor(v, pixels, s.Out)
	g := grid{terms, s.Out, t.rows, 2 * t.lanes, 1, 1}
	if p.Workers > 1 && float64(pixels)*float64(len(dw)) >= minParallelWork {
		g = cutGrid(terms, s.Out, t.rows, 2*t.lanes, p.Workers)
	}
	p.Run(g.pieces(), 1, func(from, last int) {
		for i := from; i < last; i++ {
			r0, r1, c0, c1 := g.piece(i)
			c.forward.weights(t, out.part(r0, r1, c0, c1), x, b.part(0, pixels, c0, c1), r0)
		}
	})
	return nil
}

// convolveScalar is window.convolve without assembly.
func convolveScalar(w window, to target, x []float32, b Matrix[float32], first, last int) {
	row := make([]float32, w.terms())
	a := RowMajor(row, 1, len(row))
	for i := first; i < last; i++ {
		p := w.place(i)
		w.patches(row, 0, x, p, 1, 0, len(row))
		multiplyScalar(RowMajor(to.data[to.index(p):], 1, b.Cols), a, b, false)
	}
}

// weightsScalar is window.weights without assembly.
func weightsScalar(w window, c Matrix[float32], x []float32, v Matrix[float32], first int) {
	row := make([]float32, c.Rows)
	a := RowMajor(row, c.Rows, 1)
	for i := range v.Rows {
		w.patches(row, 0, x, w.place(i), 1, first, len(row))
		multiplyScalar(c, a, v.part(i, i+1, 0, v.Cols), i > 0)
	}
}
