// 2D convolutions of float32 images, and their gradients by image and weights, as calls of kernels.

package backend

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// Most convolutions are one of the kernels' three: a convolution of float32 images or one of
// its two gradients. A backend gets these as convolutions with input dilation (gradient by
// the image) or kernel dilation (by the weights). Everything else is a product of windows;
// see convolution.

// opConv is the operation of these three. Its operands are dense: images and adjoints as
// [record, row, column, channel], weights as [row, column, in, out].
const opConv compute.OpType = -2

// convCall is the attribute of opConv.
type convCall struct {
	kind  convKind
	shape kernels.ConvShape // of the convolution, also for its gradients
}

type convKind int

const (
	convForward  convKind = iota // image, weights
	convByImage                  // adjoint, weights
	convByWeight                 // image, adjoint
)

// conv2D has the arguments of a 2D convolution, with defaults filled in.
type conv2D struct {
	axes                                  compute.ConvolveAxesConfig
	x, k, out                             []int // dims of the operands and the result
	stride, inputDilation, kernelDilation []int // stride of the window, dilation of the image, dilation of the kernel
	before, after                         []int // borders
}

// asConv2D returns the arguments if the convolution is one of float32 images without groups.
func asConv2D(c convolution, input, kernel *node, strides []int, paddings [][2]int, holes, spread []int) (p conv2D, ok bool) {
	if c.rank != 2 || c.groups != 1 || input.shape.DType != dtypes.Float32 || c.out.Size() == 0 || input.size() == 0 {
		return p, false
	}
	given := func(v []int) []int {
		if v == nil {
			return []int{1, 1}
		}
		return v
	}
	p = conv2D{axes: c.axes, x: input.shape.Dimensions, k: kernel.shape.Dimensions, out: c.out.Dimensions,
		stride: given(strides), inputDilation: given(holes), kernelDilation: given(spread), before: []int{0, 0}, after: []int{0, 0}}
	for i, b := range paddings {
		p.before[i], p.after[i] = b[0], b[1]
	}
	return p, true
}

func allOnes(v []int) bool { return v[0] == 1 && v[1] == 1 }

// spatialDims returns the dims of two axes.
func spatialDims(dims, axes []int) [2]int { return [2]int{dims[axes[0]], dims[axes[1]]} }

// trailingPad returns the smallest padding at the end of an axis of n elements with which a
// window has the given number of places.
func trailingPad(n, before, size, stride, places int) int {
	return max(0, (places-1)*stride+size-n-before)
}

// kind returns the kernel call for a convolution; false if there is none.
func (p conv2D) kind() (convCall, bool) {
	image, window, out := spatialDims(p.x, p.axes.InputSpatial), spatialDims(p.k, p.axes.KernelSpatial), spatialDims(p.out, p.axes.OutputSpatial)
	batch, channels, outs := p.x[p.axes.InputBatch], p.x[p.axes.InputChannels], p.k[p.axes.KernelOutputChannels]
	c := convCall{shape: kernels.ConvShape{StrideH: p.stride[0], StrideW: p.stride[1], Top: p.before[0], Left: p.before[1]}}
	s := &c.shape
	switch {
	case allOnes(p.inputDilation) && allOnes(p.stride) && (!allOnes(p.kernelDilation) || window[0] > out[0] && window[1] > out[1]):
		c.kind = convByWeight
		s.Batch, s.In, s.Out, s.StrideH, s.StrideW = channels, batch, outs, p.kernelDilation[0], p.kernelDilation[1]
		s.Height, s.Width, s.KernelH, s.KernelW = image[0], image[1], out[0], out[1]
		out = window
	case allOnes(p.inputDilation) && allOnes(p.kernelDilation):
		s.Batch, s.Height, s.Width, s.In, s.Out, s.KernelH, s.KernelW = batch, image[0], image[1], channels, outs, window[0], window[1]
	case allOnes(p.kernelDilation) && allOnes(p.stride):
		c.kind = convByImage
		s.Batch, s.In, s.Out, s.StrideH, s.StrideW = batch, outs, channels, p.inputDilation[0], p.inputDilation[1]
		s.Height, s.Width, s.KernelH, s.KernelW = out[0], out[1], window[0], window[1]
		s.Top, s.Left = window[0]-1-p.before[0], window[1]-1-p.before[1]
		out = image
	default:
		return c, false
	}
	s.Bottom = trailingPad(s.Height, s.Top, s.KernelH, s.StrideH, out[0])
	s.Right = trailingPad(s.Width, s.Left, s.KernelW, s.StrideW, out[1])
	fits := s.Top >= 0 && s.Left >= 0 && s.KernelH <= s.Height+s.Top+s.Bottom && s.KernelW <= s.Width+s.Left+s.Right
	return c, fits && s.OutHeight() == out[0] && s.OutWidth() == out[1]
}

// record records the convolution as a call of a kernel.
func (p conv2D) record(f *function, c convCall, input, kernel *node) (compute.Value, error) {
	t := chain{f: f}
	a := p.axes
	x, k := compute.Value(input), compute.Value(kernel)
	// Axes of the result, in the order batch, rows, columns, channels.
	result := []int{a.OutputBatch, a.OutputSpatial[0], a.OutputSpatial[1], a.OutputChannels}
	s := c.shape
	dims := []int{s.Batch, s.OutHeight(), s.OutWidth(), s.Out}
	switch c.kind {
	case convForward:
		x = t.try(f.Transpose(x, a.InputBatch, a.InputSpatial[0], a.InputSpatial[1], a.InputChannels))
		k = t.try(f.Transpose(k, a.KernelSpatial[0], a.KernelSpatial[1], a.KernelInputChannels, a.KernelOutputChannels))
	case convByImage:
		dims = []int{s.Batch, s.Height, s.Width, s.In}
		x = t.try(f.Transpose(x, a.InputBatch, a.InputSpatial[0], a.InputSpatial[1], a.InputChannels))
		// The weights are the reversed kernel, with inputs and outputs exchanged.
		k = t.try(f.Reverse(k, a.KernelSpatial...))
		k = t.try(f.Transpose(k, a.KernelSpatial[0], a.KernelSpatial[1], a.KernelOutputChannels, a.KernelInputChannels))
	case convByWeight:
		dims = []int{s.KernelH, s.KernelW, s.In, s.Out}
		result = []int{a.OutputSpatial[0], a.OutputSpatial[1], a.OutputBatch, a.OutputChannels}
		x = t.try(f.Transpose(x, a.InputChannels, a.InputSpatial[0], a.InputSpatial[1], a.InputBatch))
		k = t.try(f.Transpose(k, a.KernelInputChannels, a.KernelSpatial[0], a.KernelSpatial[1], a.KernelOutputChannels))
	}
	if t.err != nil {
		return nil, t.err
	}
	y, err := f.add(opConv, shapes.Make(dtypes.Float32, dims...), c, x.(*node), k.(*node))
	if err != nil {
		return nil, err
	}
	order := make([]int, len(result))
	for i, axis := range result {
		order[axis] = i
	}
	return f.Transpose(y, order...)
}

func init() { stepMakers[opConv] = convSteps }

// convSteps returns the steps of opConv: copies of operands that are not dense, and the
// kernel call.
func convSteps(p *planner, n *node) (steps []step, scratch map[int]int, err error) {
	c := n.attr.(convCall)
	plan, err := kernels.PlanConv(c.shape)
	if err != nil {
		return nil, nil, fmt.Errorf("backend %s: %w", Name, err)
	}
	scratch = map[int]int{}
	s := &convStep{kind: c.kind, plan: plan, to: p.views[n]}
	for i, in := range n.in {
		v := p.views[in]
		if !v.dense() {
			to := denseView(p.newSlot(), v.dtype, v.dims)
			scratch[to.slot] = v.size() * int(v.dtype.Size())
			steps, v = append(steps, denseCopy(v, to)), to
		}
		s.in[i] = v
	}
	first, second, third := plan.Scratch()
	if n := []int{first, second, third}[c.kind]; n > 0 {
		s.scratch = denseView(p.newSlot(), dtypes.Float32, []int{n})
		scratch[s.scratch.slot] = 4 * n
	}
	return append(steps, s), scratch, nil
}

// convStep runs a kernel.
type convStep struct {
	kind    convKind
	plan    *kernels.Conv
	in      [2]view
	to      view
	scratch view // without dims if none is needed
}

func (s *convStep) run(x *execution) {
	sees := func(v view) []float32 { return sliceAt[float32](x.viewPtr(v, 0), v.size()) }
	kernel := []func(p kernels.Pool, scratch, to, a, b []float32) error{s.plan.Forward, s.plan.BackwardData, s.plan.BackwardWeights}[s.kind]
	var scratch []float32
	if s.scratch.dims != nil {
		scratch = sees(s.scratch)
	}
	x.check(kernel(x.pool(), scratch, sees(s.to), sees(s.in[0]), sees(s.in[1])))
}
