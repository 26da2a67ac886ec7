// Operations on sliding windows: general convolutions, ReduceWindow, gradients of max and min
// pools.

package backend

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
	"github.com/gomlx/compute/shapes"
)

// General convolutions and reductions over windows are recorded as padding (Pad), a view of
// all windows, and a product or a reduction. In the view an element occurs once for each
// window that has it.

// opWindow is that view. Each axis of its operand becomes two: the positions of the window
// come first, then the positions within it.
const opWindow compute.OpType = -1

// window is the attribute of opWindow, for each axis of the operand.
type window struct{ size, stride, dilation []int }

func init() {
	viewOps[opWindow] = true
	stepMakers[opWindow] = layOut
}

// places returns the number of positions of the window on an axis of n elements.
func (w window) places(axis, n int) int {
	covers := (w.size[axis]-1)*w.dilation[axis] + 1
	if n < covers {
		return 0
	}
	return (n-covers)/w.stride[axis] + 1
}

// windows returns the view of all windows of x.
func (f *function) windows(x compute.Value, w window) (compute.Value, error) {
	return f.unary(opWindow, x, w, func(s shapes.Shape) (shapes.Shape, error) {
		var dims []int
		for i, n := range s.Dimensions {
			dims = append(dims, w.places(i, n))
		}
		return shapes.Make(s.DType, append(dims, w.size...)...), nil
	})
}

// windowView returns the view for opWindow.
func windowView(v view, w window, dims []int) view {
	strides := make([]int, len(dims))
	for i, s := range v.strides {
		strides[i], strides[len(v.strides)+i] = s*w.stride[i], s*w.dilation[i]
	}
	v.dims, v.strides = dims, strides
	return v
}

// ConvGeneral implements compute.Function.
func (f *function) ConvGeneral(input, kernel compute.Value, axes compute.ConvolveAxesConfig, strides []int, paddings [][2]int,
	inputDilations, kernelDilations []int, channelGroups, batchGroups int) (compute.Value, error) {
	in, err := f.operands(compute.OpTypeConvGeneral, []compute.Value{input, kernel})
	if err != nil {
		return nil, err
	}
	channelGroups, batchGroups = max(1, channelGroups), max(1, batchGroups) // 0 is 1
	shape, err := shapeinference.ConvGeneral(in[0].shape, in[1].shape, axes, strides, paddings, inputDilations, kernelDilations, channelGroups, batchGroups)
	if err != nil {
		return nil, fmt.Errorf("backend %s: ConvGeneral: %w", Name, err)
	}
	c := convolution{f: f, axes: axes, rank: len(axes.InputSpatial), out: shape, groups: max(channelGroups, batchGroups), byBatch: batchGroups > 1}
	if p, ok := asConv2D(c, in[0], in[1], strides, paddings, inputDilations, kernelDilations); ok {
		if kind, ok := p.kind(); ok {
			return p.record(f, kind, in[0], in[1])
		}
	}
	return c.record(in[0], in[1], strides, paddings, inputDilations, kernelDilations)
}

// convolution records a convolution as a product of windows and kernels.
type convolution struct {
	f       *function
	axes    compute.ConvolveAxesConfig
	rank    int
	out     shapes.Shape
	groups  int
	byBatch bool // groups of records, not of channels
}

func (c convolution) record(input, kernel *node, strides []int, paddings [][2]int, inputDilations, kernelDilations []int) (compute.Value, error) {
	t := chain{f: c.f}
	fill := t.try(c.f.zero(input.shape.DType))
	borders := make([]compute.PadAxis, input.shape.Rank())
	w := window{ones(len(borders)), ones(len(borders)), ones(len(borders))}
	for i, axis := range c.axes.InputSpatial {
		if paddings != nil {
			borders[axis].Start, borders[axis].End = paddings[i][0], paddings[i][1]
		}
		if inputDilations != nil {
			borders[axis].Interior = inputDilations[i] - 1
		}
		w.size[axis] = kernel.shape.Dimensions[c.axes.KernelSpatial[i]]
		if strides != nil {
			w.stride[axis] = strides[i]
		}
		if kernelDilations != nil {
			w.dilation[axis] = kernelDilations[i]
		}
	}
	x := compute.Value(input)
	if slices.ContainsFunc(borders, func(b compute.PadAxis) bool { return b != compute.PadAxis{} }) {
		x = t.try(c.f.Pad(x, fill, borders...))
	}
	x = t.try(c.f.windows(x, w))
	if t.err != nil {
		return nil, t.err
	}
	return c.product(&t, x.(*node), kernel)
}

// product transposes windows to [group, record, position, channel, tap] and kernels to
// [group, out, channel, tap], multiplies them, and transposes the result.
func (c convolution) product(t *chain, x, kernel *node) (compute.Value, error) {
	places, taps := make([]int, c.rank), make([]int, c.rank)
	for i, axis := range c.axes.InputSpatial {
		places[i], taps[i] = axis, c.rank+2+axis
	}
	first := []int{c.axes.InputBatch, c.axes.InputChannels}
	ones := []int{c.rank + 2 + c.axes.InputBatch, c.rank + 2 + c.axes.InputChannels} // windows are one record long, and one channel
	lhs := t.try(c.f.Transpose(x, slices.Concat(first, ones, places, taps)...))
	if t.err != nil {
		return nil, t.err
	}
	d := lhs.(*node).shape.Dimensions
	records, channels, outs := d[0], d[1], kernel.shape.Dimensions[c.axes.KernelOutputChannels]
	where, within := d[4:4+c.rank], d[4+c.rank:]
	g := c.groups
	if c.byBatch {
		lhs = t.try(c.f.Reshape(lhs, slices.Concat([]int{g, records / g, channels}, where, within)...))
		records /= g
	} else {
		lhs = t.try(c.f.Reshape(lhs, slices.Concat([]int{records, g, channels / g}, where, within)...))
		lhs = t.try(c.f.Transpose(lhs, append([]int{1, 0, 2}, sequence(3, 2*c.rank)...)...))
		channels /= g
	}
	rhs := t.try(c.f.Transpose(kernel, slices.Concat([]int{c.axes.KernelOutputChannels, c.axes.KernelInputChannels}, c.axes.KernelSpatial)...))
	rhs = t.try(c.f.Reshape(rhs, slices.Concat([]int{g, outs / g, channels}, within)...))
	sum := append([]int{2}, sequence(3+c.rank, c.rank)...)
	y := t.try(c.f.DotGeneral(lhs, sum, []int{0}, rhs, append([]int{2}, sequence(3, c.rank)...), []int{0}, compute.DotGeneralConfig{}))
	// y is [group, record, place, out].
	y = t.try(c.f.Transpose(y, append([]int{1, 0, 2 + c.rank}, sequence(2, c.rank)...)...))
	y = t.try(c.f.Reshape(y, slices.Concat([]int{records, outs}, where)...))
	order := make([]int, c.rank+2)
	order[c.axes.OutputBatch], order[c.axes.OutputChannels] = 0, 1
	for i, axis := range c.axes.OutputSpatial {
		order[axis] = 2 + i
	}
	y = t.try(c.f.Transpose(y, order...))
	return y, t.err
}

// sequence returns the n numbers from first on.
func sequence(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// chain keeps the first error of a sequence of operations.
type chain struct {
	f   *function
	err error
}

func (t *chain) try(v compute.Value, err error) compute.Value {
	if t.err == nil {
		t.err = err
	}
	return v
}

func (f *function) zero(t dtypes.DType) (compute.Value, error) {
	v, err := f.Constant([]float64{0})
	if err != nil {
		return nil, err
	}
	return f.ConvertDType(v, t)
}

// ReduceWindow implements compute.Function.
func (f *function) ReduceWindow(x compute.Value, kind compute.ReduceOpType, size, strides, inputDilations, dilations []int,
	paddings [][2]int) (compute.Value, error) {
	in, err := f.operands(compute.OpTypeReduceWindow, []compute.Value{x})
	if err != nil {
		return nil, err
	}
	if _, err := shapeinference.ReduceWindow(in[0].shape, size, strides, inputDilations, dilations, paddings); err != nil {
		return nil, fmt.Errorf("backend %s: ReduceWindow: %w", Name, err)
	}
	op, ok := map[compute.ReduceOpType]compute.OpType{
		compute.ReduceOpSum: compute.OpTypeReduceSum, compute.ReduceOpProduct: compute.OpTypeReduceProduct,
		compute.ReduceOpMax: compute.OpTypeReduceMax, compute.ReduceOpMin: compute.OpTypeReduceMin,
	}[kind]
	fold := folds[kernelKey{op, in[0].shape.DType}]
	if !ok || fold == nil {
		return nil, missing(compute.OpTypeReduceWindow)
	}
	rank := in[0].shape.Rank()
	borders := make([]compute.PadAxis, rank)
	w := window{slices.Clone(size), ones(rank), ones(rank)}
	if len(size) == 0 {
		w.size = ones(rank)
	}
	for i := range rank {
		w.stride[i] = w.size[i]
		if strides != nil {
			w.stride[i] = strides[i]
		}
		if dilations != nil {
			w.dilation[i] = dilations[i]
		}
		if inputDilations != nil {
			borders[i].Interior = inputDilations[i] - 1
		}
		if paddings != nil {
			borders[i].Start, borders[i].End = paddings[i][0], paddings[i][1]
		}
	}
	t := chain{f: f}
	y := compute.Value(in[0])
	if slices.ContainsFunc(borders, func(b compute.PadAxis) bool { return b != compute.PadAxis{} }) {
		y = t.try(f.Pad(y, t.try(f.foldIdentity(fold, in[0].shape.DType)), borders...))
	}
	y = t.try(f.windows(y, w))
	y = t.try(f.reduce(op, y, sequence(rank, rank)))
	return y, t.err
}

// foldIdentity returns the result of a reduction of no elements.
func (f *function) foldIdentity(r *fold, t dtypes.DType) (compute.Value, error) {
	buf, err := f.builder.backend.buffer(shapes.Make(t, 1))
	if err != nil {
		return nil, err
	}
	acc := []uint64{0}
	r.start(acc)
	r.end(buf.data(), acc)
	v, err := f.Constant(buf.flat, 1)
	if err != nil {
		return nil, err
	}
	return f.Reshape(v)
}

// SelectAndScatterMax implements compute.Function.
func (f *function) SelectAndScatterMax(x, source compute.Value, size, strides []int, paddings [][2]int) (compute.Value, error) {
	return f.selectAndScatter(compute.OpTypeSelectAndScatterMax, x, source, size, strides, paddings)
}

// SelectAndScatterMin implements compute.Function.
func (f *function) SelectAndScatterMin(x, source compute.Value, size, strides []int, paddings [][2]int) (compute.Value, error) {
	return f.selectAndScatter(compute.OpTypeSelectAndScatterMin, x, source, size, strides, paddings)
}

// poolWindow has the windows of a pool and the leading padding.
type poolWindow struct {
	size, stride, before []int
	least                bool
}

func (f *function) selectAndScatter(op compute.OpType, x, source compute.Value, size, strides []int, paddings [][2]int) (compute.Value, error) {
	in, err := f.operands(op, []compute.Value{x, source})
	if err != nil {
		return nil, err
	}
	p := poolWindow{slices.Clone(size), slices.Clone(strides), make([]int, in[0].shape.Rank()), op == compute.OpTypeSelectAndScatterMin}
	for i := range paddings {
		p.before[i] = paddings[i][0]
	}
	if strides == nil {
		p.stride = p.size
	}
	shape, err := shapeinference.SelectAndScatter(in[0].shape, in[1].shape, size, strides, paddings)
	if err == nil && selectScatterKernels[in[0].shape.DType] == nil {
		err = missing(op)
	}
	return f.result(op, shape, err, p, in...)
}

func init() {
	make := func(p *planner, n *node) ([]step, map[int]int, error) {
		return []step{selectScatterStep{n.attr.(poolWindow), p.views[n.in[0]], p.views[n.in[1]], p.views[n]}}, nil, nil
	}
	stepMakers[compute.OpTypeSelectAndScatterMax], stepMakers[compute.OpTypeSelectAndScatterMin] = make, make
	stepMakers[compute.OpTypeConvGeneral], stepMakers[compute.OpTypeReduceWindow] = nil, nil // recorded as other operations
}

// selectScatterStep adds each element of source to the largest (or smallest) element of its
// window.
type selectScatterStep struct {
	poolWindow
	x, source, to view
}

var selectScatterKernels = map[dtypes.DType]func(s selectScatterStep, x *execution){
	dtypes.Float32: selectScatter[float32], dtypes.Float64: selectScatter[float64], dtypes.Int32: selectScatter[int32], dtypes.Int64: selectScatter[int64],
}

func (s selectScatterStep) run(x *execution) { selectScatterKernels[s.x.dtype](s, x) }

func selectScatter[T number](s selectScatterStep, x *execution) {
	clear(sliceAt[T](x.viewPtr(s.to, 0), s.to.size()))
	at := func(v view, offset int) *T { return (*T)(unsafe.Pointer(x.viewPtr(v, offset))) }
	place, within := make([]int, len(s.x.dims)), make([]int, len(s.x.dims))
	forEachIndex(s.source.dims, place, func() {
		found := false
		var most T
		var target int
		clear(within)
		forEachIndex(s.size, within, func() {
			from, to := 0, 0
			for i := range within {
				k := place[i]*s.stride[i] + within[i] - s.before[i]
				if k < 0 || k >= s.x.dims[i] {
					return
				}
				from += k * s.x.strides[i]
				to += k * s.to.strides[i]
			}
			v := *at(s.x, from)
			if !found || (v > most) != s.least && v != most {
				most, target, found = v, to, true
			}
		})
		if found {
			offset := 0
			for i, k := range place {
				offset += k * s.source.strides[i]
			}
			*at(s.to, target) += *at(s.source, offset)
		}
	})
}

// forEachIndex calls f for all indices below dims, the last axis fastest.
func forEachIndex(dims, index []int, f func()) {
	if product(dims) == 0 {
		return
	}
	for {
		f()
		i := len(dims) - 1
		for ; i >= 0; i-- {
			if index[i]++; index[i] < dims[i] {
				break
			}
			index[i] = 0
		}
		if i < 0 {
			return
		}
	}
}
