// Convolution and pooling.

package onnx

import (
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
)

// Operators over sliding windows.

// windows are the settings of a sliding window: per spatial axis its size, stride, dilation
// and borders.
type windows struct {
	size, strides, dilations []int
	borders                  [][2]int
	places                   []int // how many windows there are
	beyond                   []int // by how much the last window extends beyond the borders
}

// window reads the settings for spatial axes of those lengths.
func (o *op) window(size, in []int) windows {
	n := len(in)
	w := windows{size: size, strides: o.positive("strides", n), dilations: slices.Repeat([]int{1}, n)}
	if o.hasAttribute("dilations") {
		w.dilations = o.positive("dilations", n)
	}
	w.borders = o.borders(n)
	kind := o.string("auto_pad")
	ceil := o.hasAttribute("ceil_mode") && o.flag("ceil_mode")
	w.places, w.beyond = make([]int, n), make([]int, n)
	for i := range n {
		covers := w.extent(i)
		if kind == "SAME_UPPER" || kind == "SAME_LOWER" {
			places := (in[i] + w.strides[i] - 1) / w.strides[i]
			w.borders[i] = splitBorder(max(0, (places-1)*w.strides[i]+covers-in[i]), kind == "SAME_UPPER")
		}
		free := in[i] + w.borders[i][0] + w.borders[i][1] - covers
		if free < 0 {
			fail("a window of %d elements over %d", covers, covers+free)
		}
		w.places[i] = free/w.strides[i] + 1
		if ceil && free%w.strides[i] != 0 && kind != "SAME_UPPER" && kind != "SAME_LOWER" && w.places[i]*w.strides[i] < in[i]+w.borders[i][0] {
			w.places[i]++
			w.beyond[i] = (w.places[i]-1)*w.strides[i] - free
		}
	}
	return w
}

// extent returns the length of a window on an axis, with dilation.
func (w windows) extent(i int) int {
	reach := (w.size[i]-1)*w.dilations[i] + 1
	if w.size[i] > 1<<30 || w.dilations[i] > 1<<30 || reach > maxBytes {
		fail("a window of %d elements, %d apart", w.size[i], w.dilations[i])
	}
	return reach
}

// splitBorder splits a border in two; the odd element is at the end, or at the start with
// upper.
func splitBorder(total int, upper bool) [2]int {
	if upper {
		return [2]int{total / 2, total - total/2}
	}
	return [2]int{total - total/2, total / 2}
}

// borders returns the borders that the operation names; with automatic padding it must name
// none.
func (o *op) borders(n int) [][2]int {
	list := o.list("pads", 2*n, 0)
	out := make([][2]int, n)
	for i := range n {
		out[i] = [2]int{list[i], list[n+i]}
		if out[i][0] < 0 || out[i][1] < 0 || out[i][0] > maxBytes || out[i][1] > maxBytes {
			fail("borders of %v", out[i])
		}
		if o.string("auto_pad") != "NOTSET" && out[i] != [2]int{} {
			fail("its attributes auto_pad = %s and pads = %v contradict each other", o.string("auto_pad"), list)
		}
	}
	return out
}

// imageDims returns the numbers of records and channels and the spatial lengths.
func (o *op) imageDims() (records, channels int, spatial []int) {
	v := o.in[0]
	if v.rank() < 3 {
		fail("a value of %d axes; need records, channels and at least one more axis", v.rank())
	}
	return v.dims[0], v.dims[1], v.dims[2:]
}

// layout returns the order of the axes of images and kernels.
func layout(spatial int) compute.ConvolveAxesConfig {
	axes := fill(spatial, func(i int) int { return i + 2 })
	return compute.ConvolveAxesConfig{
		InputBatch: 0, InputChannels: 1, InputSpatial: axes,
		KernelInputChannels: 1, KernelOutputChannels: 0, KernelSpatial: axes,
		OutputBatch: 0, OutputChannels: 1, OutputSpatial: axes,
	}
}

// kernel checks the shape of a convolution's weights.
func (o *op) kernel(in, groups int) []int {
	w := o.in[1].dims
	if len(w) != o.in[0].rank() || groups < 1 || groups > maxBytes || in%groups != 0 {
		fail("weights of shape %v in %d groups for a value of shape %v", w, groups, o.in[0].dims)
	}
	size := w[2:]
	if o.attribute("kernel_shape") != nil && !slices.Equal(o.list("kernel_shape", len(size), 0), size) {
		fail("its attribute kernel_shape = %s, and its weights are of shape %v", o.attribute("kernel_shape"), w)
	}
	return size
}

func conv(o *op) *value {
	records, in, spatial := o.imageDims()
	groups := o.int("group")
	w := o.window(o.kernel(in, groups), spatial)
	dims := o.in[1].dims
	if dims[1]*groups != in || dims[0]%groups != 0 {
		fail("weights of shape %v in %d groups for %d channels", dims, groups, in)
	}
	checkSize(slices.Concat([]int{records, dims[0]}, w.places))
	if len(spatial) != 2 { // windows are laid out
		checkSize(slices.Concat([]int{records, in}, w.places, w.size))
	}
	y := graph.ConvGeneral(o.inputNode(0), o.inputNode(1), layout(len(spatial)), w.strides, w.borders, nil, w.dilations, groups, 1)
	return computedValue(o.in[0].elem, o.addBias(y))
}

// addBias adds a number per channel, if given.
func (o *op) addBias(y *graph.Node) *graph.Node {
	if !o.hasInput(2) {
		return y
	}
	return graph.Add(y, o.perChannel(2, y.Shape().Dimensions))
}

// perChannel broadcasts a list along the second axis of a shape.
func (o *op) perChannel(i int, dims []int) *graph.Node {
	if len(dims) < 2 || !slices.Equal(o.in[i].dims, []int{dims[1]}) {
		fail("its input %d is of shape %v, for a value of shape %v", i, o.in[i].dims, dims)
	}
	line := slices.Repeat([]int{1}, len(dims))
	line[1] = dims[1]
	return broadcast(graph.Reshape(o.inputNode(i), line...), dims)
}

// convTranspose is a convolution of the input with zeros between its elements.
func convTranspose(o *op) *value {
	records, in, spatial := o.imageDims()
	groups, n := o.int("group"), len(spatial)
	size := o.kernel(in, groups)
	dims := o.in[1].dims
	if dims[0] != in {
		fail("weights of shape %v for %d channels", dims, in)
	}
	w := windows{size: size, strides: o.positive("strides", n), dilations: o.positive("dilations", n), borders: o.borders(n)}
	extra := o.list("output_padding", n, 0)
	full, crop := make([]int, n), w.borders
	around := make([][2]int, n)
	for i := range n {
		covers := w.extent(i)
		if extra[i] < 0 || extra[i] >= max(w.strides[i], w.dilations[i]) {
			fail("its attribute output_padding = %v", extra)
		}
		checkSize([]int{spatial[i], w.strides[i]})
		full[i] = (spatial[i]-1)*w.strides[i] + covers + extra[i]
		around[i] = [2]int{covers - 1, covers - 1 + extra[i]}
	}
	o.outputBorders(full, around, crop, spatial, w.strides)
	out := dims[1] * groups
	checkSize(slices.Concat([]int{records, out}, full))
	checkSize(slices.Concat([]int{records, in}, full, size))
	kernel := graph.Reshape(o.inputNode(1), slices.Concat([]int{groups, in / groups, dims[1]}, size)...)
	kernel = permute(kernel, slices.Concat([]int{0, 2, 1}, fill(n, func(i int) int { return i + 3 })))
	kernel = graph.Reshape(kernel, slices.Concat([]int{out, in / groups}, size)...)
	kernel = graph.Reverse(kernel, fill(n, func(i int) int { return i + 2 })...)
	y := graph.ConvGeneral(o.inputNode(0), kernel, layout(n), slices.Repeat([]int{1}, n), around, w.strides, w.dilations, groups, 1)
	for i, p := range crop {
		left := full[i] - p[0] - p[1]
		if left < 1 {
			fail("borders of %v of %d elements", p, full[i])
		}
		y = sliceAxis(y, i+2, p[0], left, 1)
	}
	return computedValue(o.in[0].elem, o.addBias(y))
}

// outputBorders computes the borders of a result with given lengths.
func (o *op) outputBorders(full []int, around, crop [][2]int, in, strides []int) {
	kind := o.string("auto_pad")
	for i := range full {
		want := in[i] * strides[i]
		switch {
		case o.attribute("output_shape") != nil:
			list := o.list("output_shape", -1, 0)
			if len(list) < len(full) {
				fail("its attribute output_shape = %v", list)
			}
			want = list[len(list)-len(full)+i]
		case kind == "NOTSET" || kind == "VALID":
			continue
		}
		if want < 1 || want > full[i]+strides[i] {
			fail("a result of %d elements of %d", want, full[i])
		}
		if more := want - full[i]; more > 0 { // nothing but the bias
			full[i], around[i][1] = want, around[i][1]+more
		}
		crop[i] = splitBorder(full[i]-want, kind == "SAME_UPPER")
	}
}

// reduceWindows reduces windows of the spatial axes; what lies outside is ignored.
func (w windows) reduceWindows(x *graph.Node, kind graph.ReduceOpType) *graph.Node {
	lead := x.Rank() - len(w.size)
	first := slices.Repeat([]int{1}, lead)
	borders := make([][2]int, lead)
	for i, p := range w.borders {
		borders = append(borders, [2]int{p[0], p[1] + w.beyond[i]})
	}
	return graph.BackendReduceWindow(x, kind, slices.Concat(first, w.size), slices.Concat(first, w.strides), nil,
		slices.Concat(first, w.dilations), borders)
}

// pool reads the settings of a pooling operator.
func (o *op) pool() windows {
	records, channels, spatial := o.imageDims()
	size := o.positive("kernel_shape", len(spatial))
	w := o.window(size, spatial)
	for i, p := range w.borders {
		if p[0] >= w.extent(i) || p[1] >= w.extent(i) {
			fail("borders of %v around windows of %d elements", p, w.extent(i))
		}
	}
	checkSize(slices.Concat([]int{records, channels}, w.places))
	return w
}

func maxPool(o *op) []*value {
	w := o.pool()
	return []*value{computedValue(o.in[0].elem, w.reduceWindows(o.inputNode(0), compute.ReduceOpMax))}
}

// averagePool divides by the number of elements of a window that lie in the value, or in
// the value and its borders.
func averagePool(o *op) *value {
	w := o.pool()
	x := o.inputNode(0)
	_, _, spatial := o.imageDims()
	sum := w.reduceWindows(x, compute.ReduceOpSum)
	counted := w
	if o.hasAttribute("count_include_pad") && o.flag("count_include_pad") {
		spatial = slices.Clone(spatial)
		counted.borders = make([][2]int, len(spatial))
		for i, p := range w.borders {
			spatial[i] += p[0] + p[1]
		}
	}
	one := broadcast(graph.Scalar(o.g, x.DType(), 1), slices.Concat([]int{1, 1}, spatial))
	n := counted.reduceWindows(one, compute.ReduceOpSum)
	return computedValue(o.in[0].elem, graph.Div(sum, broadcast(n, sum.Shape().Dimensions)))
}

// powers returns the p-th powers of absolute values; root is the inverse.
func powers(x *graph.Node, p float64) *graph.Node {
	switch p {
	case 1:
		return graph.Abs(x)
	case 2:
		return graph.Mul(x, x)
	}
	return graph.Pow(graph.Abs(x), constLike(x, p))
}

func root(x *graph.Node, p float64) *graph.Node {
	switch p {
	case 1:
		return x
	case 2:
		return graph.Sqrt(x)
	}
	return graph.Pow(x, constLike(x, 1/p))
}

// exponent returns an attribute of either type, depending on the opset.
func (o *op) exponent() float64 {
	p := float64(o.int("p"))
	if o.row.known["p"].kind == "float" {
		p = o.float("p")
	}
	if !(p >= 1) || math.IsInf(p, 0) {
		fail("its attribute p = %v", p)
	}
	return p
}

func lpPool(o *op) *value {
	w := o.pool()
	p := o.exponent()
	return computedValue(o.in[0].elem, root(w.reduceWindows(powers(o.inputNode(0), p), compute.ReduceOpSum), p))
}

// global reduces all spatial axes.
func global(f func(o *op, x *graph.Node, axes []int) *graph.Node) func(o *op) []*value {
	return singleResult(func(o *op) *value {
		_, _, spatial := o.imageDims()
		axes := fill(len(spatial), func(i int) int { return i + 2 })
		return computedValue(o.in[0].elem, graph.Reshape(f(o, o.inputNode(0), axes), shapeWithOnes(o.in[0].dims, axes)...))
	})
}

func globalMean(_ *op, x *graph.Node, axes []int) *graph.Node { return mean(x, axes...) }

func globalMax(_ *op, x *graph.Node, axes []int) *graph.Node { return graph.ReduceMax(x, axes...) }

func globalLp(o *op, x *graph.Node, axes []int) *graph.Node {
	p := o.exponent()
	return root(graph.ReduceSum(powers(x, p), axes...), p)
}
