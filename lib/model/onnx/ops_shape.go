// Operators that change the shape or the order of values.

package onnx

import (
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// Operators that change the shape or the order of values.

// reshaped returns a value of another shape, constant where it was constant.
func (o *op) reshaped(v *value, dims []int) *value {
	if n, _ := product(checkSize(dims)); n != int64(v.size()) {
		fail("a value of shape %v does not become one of shape %v", v.dims, dims)
	}
	if v.known {
		return &value{elem: v.elem, dims: slices.Clone(dims), known: true, flat: v.flat, text: v.text}
	}
	return computedValue(v.elem, graph.Reshape(o.nodeOf(v), dims...))
}

// reshape has 0 for a length that stays, unless allowzero is set, and -1 for the remaining
// length.
func reshape(o *op) *value {
	v := o.in[0]
	var dims []int
	if o.hasAttribute("shape") {
		dims = o.list("shape", -1, 0)
	} else {
		dims = slices.Clone(o.ints(1))
	}
	left, size := -1, 1
	zero := o.hasAttribute("allowzero") && o.flag("allowzero")
	for i, d := range dims {
		switch {
		case d == 0 && !zero:
			if i >= v.rank() {
				fail("its shape %v keeps axis %d of a value of shape %v", dims, i, v.dims)
			}
			dims[i] = v.dims[i]
		case d == -1 && left >= 0, d < -1, d == -1 && zero && slices.Contains(dims, 0):
			fail("its shape %v is invalid", dims)
		case d == -1:
			left = i
			continue
		}
		size *= max(1, min(dims[i], maxBytes))
		if size > maxBytes {
			fail("its shape %v is too large", dims)
		}
	}
	if left >= 0 {
		if slices.Contains(dims, 0) || v.size()%size != 0 {
			fail("a value of shape %v does not become one of shape %v", v.dims, dims)
		}
		dims[left] = v.size() / size
	}
	return o.reshaped(v, dims)
}

// flatten makes a matrix.
func flatten(o *op) *value {
	v := o.in[0]
	axis := o.int("axis")
	if axis < 0 && o.opset >= 11 {
		axis += v.rank()
	}
	if axis < 0 || axis > v.rank() {
		fail("axis %d of a value of %d axes", o.int("axis"), v.rank())
	}
	rows, cols := 1, 1
	for i, d := range v.dims {
		if i < axis {
			rows *= d
		} else {
			cols *= d
		}
	}
	return o.reshaped(v, []int{rows, cols})
}

// axes returns those of an attribute or an input; none if there is neither.
func (o *op) axes(input int) []int {
	switch {
	case o.hasAttribute("axes"):
		return o.list("axes", -1, 0)
	case o.hasInput(input):
		return o.ints(input)
	}
	return nil
}

func squeeze(o *op) *value {
	v := o.in[0]
	given := o.hasAttribute("axes") && o.attribute("axes") != nil || !o.hasAttribute("axes") && o.hasInput(1)
	axes := axesOf(o.axes(1), v.rank())
	var dims []int
	for i, d := range v.dims {
		gone := slices.Contains(axes, i) || !given && d == 1
		if gone && d != 1 {
			fail("axis %d of a value of shape %v is not of length 1", i, v.dims)
		}
		if !gone {
			dims = append(dims, d)
		}
	}
	return o.reshaped(v, dims)
}

func unsqueeze(o *op) *value {
	v := o.in[0]
	list := o.axes(1)
	axes := axesOf(list, v.rank()+len(list))
	dims, k := make([]int, v.rank()+len(axes)), 0
	for i := range dims {
		dims[i] = 1
		if !slices.Contains(axes, i) {
			dims[i] = v.dims[k]
			k++
		}
	}
	return o.reshaped(v, dims)
}

func transpose(o *op) *value {
	v := o.in[0]
	perm := o.list("perm", -1, 0)
	if o.attribute("perm") == nil {
		for i := range v.rank() {
			perm = append(perm, v.rank()-1-i)
		}
	}
	if len(perm) != v.rank() || slices.ContainsFunc(perm, func(i int) bool { return i < 0 }) {
		fail("its attribute perm = %v is not a permutation of %d axes", perm, v.rank())
	}
	return computedValue(v.elem, permute(o.inputNode(0), axesOf(perm, v.rank())))
}

func permute(x *graph.Node, perm []int) *graph.Node {
	if len(perm) < 2 {
		return x
	}
	return graph.TransposeAllAxes(x, perm...)
}

// concat concatenates values; empty ones are dropped.
func concat(o *op) *value {
	v := o.in[0]
	axis := 1
	if o.opset >= 4 || o.attribute("axis") != nil {
		axis = o.int("axis")
	}
	axis = axisOf(axis, v.rank())
	var parts []*graph.Node
	total := 0
	for i, p := range o.in {
		if p == nil || p.rank() != v.rank() {
			fail("its input %d is of another rank than the first", i)
		}
		for k, d := range p.dims {
			if k != axis && d != v.dims[k] {
				fail("shapes %v and %v cannot be concatenated", v.dims, p.dims)
			}
		}
		if total += p.dims[axis]; p.size() > 0 {
			parts = append(parts, o.inputNode(i))
		}
	}
	dims := slices.Clone(v.dims)
	dims[axis] = total
	if len(parts) == 0 {
		return o.empty(v.elem, dims)
	}
	checkSize(dims)
	return computedValue(v.elem, concatNodes(parts, axis))
}

func concatNodes(parts []*graph.Node, axis int) *graph.Node {
	if len(parts) == 1 {
		return parts[0]
	}
	return graph.Concatenate(parts, axis)
}

// empty returns an empty constant.
func (o *op) empty(e elem, dims []int) *value {
	v := &value{elem: e, dims: slices.Clone(dims), known: true}
	v.flat = unpacked(e, nil, 0)
	return v
}

// sliceAxis returns n elements of an axis from start on, step apart.
func sliceAxis(x *graph.Node, axis, start, n, step int) *graph.Node {
	if step < 0 {
		x = graph.Reverse(x, axis)
		start, step = x.Shape().Dimensions[axis]-1-start, -step
	}
	d := x.Shape().Dimensions[axis]
	if start == 0 && n == d && step == 1 {
		return x
	}
	spec := graph.AxisRange(start, min(d, start+(n-1)*step+1))
	return graph.SliceAxis(x, axis, spec.Stride(step))
}

// slice takes starts, ends, axes and steps from attributes or from inputs.
func slice(o *op) *value {
	v := o.in[0]
	var starts, ends, axes, steps []int
	if o.hasAttribute("starts") {
		starts, ends, axes = o.list("starts", -1, 0), o.list("ends", -1, 0), o.list("axes", -1, 0)
	} else {
		starts, ends = o.ints(1), o.ints(2)
		if o.hasInput(3) {
			axes = o.ints(3)
		}
		if o.hasInput(4) {
			steps = o.ints(4)
		}
	}
	if len(axes) == 0 {
		for i := range starts {
			axes = append(axes, i)
		}
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, len(starts))
	}
	if len(ends) != len(starts) || len(axes) != len(starts) || len(steps) != len(starts) {
		fail("it has %d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	if v.elem == texts {
		fail("computing with strings is not supported")
	}
	axes = axesOf(axes, v.rank())
	dims := slices.Clone(v.dims)
	begins := make([]int, len(axes))
	for i, axis := range axes {
		begins[i], dims[axis] = sliceBounds(starts[i], ends[i], steps[i], v.dims[axis])
	}
	if slices.Contains(dims, 0) {
		return o.empty(v.elem, dims)
	}
	x := o.inputNode(0)
	for i, axis := range axes {
		x = sliceAxis(x, axis, begins[i], dims[axis], steps[i])
	}
	return computedValue(v.elem, x)
}

// sliceBounds returns where a slice of an axis of n elements begins, and its length.
func sliceBounds(start, end, step, n int) (begin, count int) {
	if step == 0 {
		fail("a step of 0")
	}
	if start < 0 {
		start += n
	}
	if end < 0 {
		end += n
	}
	if step > 0 {
		start, end = max(0, min(start, n)), max(0, min(end, n))
		return start, max(0, (end-start+step-1)/step)
	}
	start, end = max(0, min(start, n-1)), max(-1, min(end, n-1))
	return start, max(0, (start-end-step-1)/-step)
}

// split splits a value into parts of given lengths, or of equal ones.
func split(o *op) []*value {
	v := o.in[0]
	axis := o.axis(v.rank())
	n := v.dims[axis]
	parts := len(o.n.outputs)
	var sizes []int
	switch {
	case o.hasAttribute("split") && o.attribute("split") != nil:
		sizes = o.list("split", parts, 0)
	case !o.hasAttribute("split") && o.hasInput(1):
		sizes = o.ints(1)
	}
	if o.hasAttribute("num_outputs") && o.attribute("num_outputs") != nil {
		if sizes != nil || o.int("num_outputs") != parts {
			fail("its attribute num_outputs = %d, and it has %d outputs", o.int("num_outputs"), parts)
		}
	}
	if sizes == nil {
		if o.hasAttribute("num_outputs") && o.attribute("num_outputs") == nil {
			fail("neither its input 1 nor its attribute num_outputs says where to cut")
		}
		each := (n + parts - 1) / parts
		if o.opset < 18 && n%parts != 0 {
			fail("%d elements in %d equal parts", n, parts)
		}
		for i := range parts {
			sizes = append(sizes, max(0, min(each, n-i*each)))
		}
	}
	out, from := []*value(nil), 0
	for _, size := range sizes {
		if size < 0 || size > n-from {
			fail("parts of %v of %d elements", sizes, n)
		}
		dims := slices.Clone(v.dims)
		if dims[axis] = size; slices.Contains(dims, 0) {
			out = append(out, o.empty(v.elem, dims))
		} else {
			out = append(out, computedValue(v.elem, sliceAxis(o.inputNode(0), axis, from, size, 1)))
		}
		from += size
	}
	if from != n || len(sizes) != parts {
		fail("parts of %v of %d elements for %d outputs", sizes, n, parts)
	}
	return out
}

// expand broadcasts a value to a shape.
func expand(o *op) *value {
	dims := broadcastShape(o.in[0].dims, checkPositive(o.ints(1)))
	return computedValue(o.in[0].elem, broadcast(o.inputNode(0), dims))
}

// checkPositive refuses negative lengths and zeros.
func checkPositive(list []int) []int {
	for _, d := range list {
		if d < 1 {
			fail("a shape of %v", list)
		}
	}
	return list
}

func tile(o *op) *value {
	v := o.in[0]
	times := checkPositive(o.ints(1))
	if len(times) != v.rank() {
		fail("%d repeats of %d axes", len(times), v.rank())
	}
	var once, laid, dims []int
	for i, d := range v.dims {
		once, laid = append(once, 1, d), append(laid, times[i], d)
		checkSize([]int{times[i], d})
		dims = append(dims, times[i]*d)
	}
	checkSize(dims)
	return computedValue(v.elem, graph.Reshape(broadcast(graph.Reshape(o.inputNode(0), once...), laid), dims...))
}

// pads returns the borders of every axis.
func (o *op) pads(rank int) [][2]int {
	var list []int
	switch {
	case o.hasAttribute("paddings"):
		list = o.list("paddings", -1, 0)
	case o.hasAttribute("pads"):
		list = o.list("pads", -1, 0)
	default:
		list = o.ints(1)
	}
	out := make([][2]int, rank)
	var axes []int
	if o.hasInput(3) {
		axes = axesOf(o.ints(3), rank)
	} else {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	if len(list) != 2*len(axes) {
		fail("%d borders of %d axes", len(list), len(axes))
	}
	for i, axis := range axes {
		out[axis] = [2]int{list[i], list[len(axes)+i]}
	}
	return out
}

// pad adds borders to a value; a negative width crops.
func pad(o *op) *value {
	v := o.in[0]
	x := o.inputNode(0)
	mode := o.string("mode")
	dims := slices.Clone(v.dims)
	borders := o.pads(v.rank())
	for axis, p := range borders {
		dims[axis] += p[0] + p[1]
		if dims[axis] < 1 || p[0] < -v.dims[axis] || p[1] < -v.dims[axis] {
			fail("borders of %v around %d elements", p, v.dims[axis])
		}
	}
	checkSize(dims)
	if mode == "constant" {
		return computedValue(v.elem, padConstant(x, o.padValue(), borders))
	}
	for axis, p := range borders {
		n := x.Shape().Dimensions[axis]
		from := max(0, -p[0])
		left := n - from - max(0, -p[1])
		if left < 1 {
			fail("borders of %v around %d elements", p, n)
		}
		x = padMirror(sliceAxis(x, axis, from, left, 1), axis, [2]int{max(0, p[0]), max(0, p[1])}, mode)
	}
	return computedValue(v.elem, x)
}

// padValue returns the value of a constant border.
func (o *op) padValue() *graph.Node {
	switch {
	case o.hasAttribute("value"):
		return graph.Scalar(o.g, o.in[0].elem.dtype(), o.float("value"))
	case o.hasInput(2) && o.in[2].size() == 1:
		return graph.Reshape(o.inputNode(2))
	case o.hasInput(2):
		fail("its input 2 is not a single number")
	}
	return graph.ConvertDType(graph.Scalar(o.g, dtypes.Uint8, 0), o.in[0].elem.dtype())
}

// padConstant adds a border of one number.
func padConstant(x, filling *graph.Node, borders [][2]int) *graph.Node {
	axes := make([]compute.PadAxis, len(borders))
	some := false
	for i, p := range borders {
		d := x.Shape().Dimensions[i]
		if p[0] < 0 || p[1] < 0 {
			from := max(0, -p[0])
			x = sliceAxis(x, i, from, d-from-max(0, -p[1]), 1)
		}
		axes[i] = compute.PadAxis{Start: max(0, p[0]), End: max(0, p[1])}
		some = some || axes[i] != compute.PadAxis{}
	}
	if !some {
		return x
	}
	return graph.Pad(x, filling, axes...)
}

// padMirror adds a border that repeats what is inside.
func padMirror(x *graph.Node, axis int, p [2]int, mode string) *graph.Node {
	n := x.Shape().Dimensions[axis]
	dims := slices.Clone(x.Shape().Dimensions)
	var parts []*graph.Node
	side := func(width, edge, reflected, wrapped int) {
		switch {
		case width == 0:
			return
		case mode == "edge":
			dims[axis] = width
			parts = append(parts, broadcast(sliceAxis(x, axis, edge, 1, 1), dims))
			return
		case mode == "reflect" && width > n-1, mode == "wrap" && width > n:
			fail("a border of %d around %d elements in mode %s", width, n, mode)
		case mode == "reflect":
			parts = append(parts, graph.Reverse(sliceAxis(x, axis, reflected, width, 1), axis))
		default:
			parts = append(parts, sliceAxis(x, axis, wrapped, width, 1))
		}
	}
	side(p[0], 0, 1, n-p[0])
	parts = append(parts, x)
	side(p[1], n-1, n-1-p[1], 0)
	return concatNodes(parts, axis)
}

// shapeOf is constant: every shape is known.
func shapeOf(o *op) *value {
	v := o.in[0]
	from, to := 0, v.rank()
	if o.hasAttribute("start") {
		from = o.int("start")
		if o.attribute("end") != nil {
			to = o.int("end")
		}
		from, to = clampIndex(from, v.rank()), clampIndex(to, v.rank())
		to = max(from, to)
	}
	return knownValue(int64s, fill(to-from, func(i int) int64 { return int64(v.dims[from+i]) }), to-from)
}

// clampIndex returns an index, counted from the end if negative, clamped to the axis.
func clampIndex(i, n int) int {
	if i < 0 {
		i += n
	}
	return max(0, min(i, n))
}

func sizeOf(o *op) *value { return knownValue(int64s, []int64{int64(o.in[0].size())}) }

// constant has its value in one of several attributes.
func constant(o *op) *value {
	if len(o.n.attributes) != 1 {
		fail("it has %d attributes, and should have one", len(o.n.attributes))
	}
	name := sorted(o.n.attributes)[0]
	a := o.attribute(name)
	switch name {
	case "value_float":
		return knownValue(float32s, []float32{a.f})
	case "value_floats":
		return knownValue(float32s, a.floats, len(a.floats))
	case "value_int":
		return knownValue(int64s, []int64{a.i})
	case "value_ints":
		return knownValue(int64s, a.ints, len(a.ints))
	case "value_string":
		return &value{elem: texts, known: true, text: []string{a.s}}
	case "value_strings":
		return &value{elem: texts, known: true, text: a.strings, dims: []int{len(a.strings)}}
	}
	return o.tensor(a)
}

func (o *op) tensor(a *attribute) *value {
	v, err := a.t.value(o.m.folder)
	if err != nil {
		panic(refusal{text: err.Error()})
	}
	return v
}

func constantOfShape(o *op) *value {
	dims := o.ints(0)
	for _, d := range dims {
		if d < 0 {
			fail("a shape of %v", dims)
		}
	}
	checkSize(dims)
	v := knownValue(float32s, []float32{0})
	if a := o.attribute("value"); a != nil {
		v = o.tensor(a)
	}
	if v.size() != 1 || v.elem == texts {
		fail("its attribute value is not a single number")
	}
	if slices.Contains(dims, 0) {
		return o.empty(v.elem, dims)
	}
	return computedValue(v.elem, broadcast(graph.Reshape(o.nodeOf(v)), dims))
}

// rangeOp counts from a start to a limit, exclusive.
func rangeOp(o *op) *value {
	e := o.in[0].elem
	var ends [3]float64
	for i := range ends {
		list := o.numbers(i)
		if len(list) != 1 || e.isInteger() && math.Abs(list[0]) > 1<<40 {
			fail("its input %d is %v", i, list)
		}
		ends[i] = list[0]
	}
	start, step := ends[0], ends[2]
	n := math.Ceil((ends[1] - start) / step)
	if step == 0 || math.IsNaN(n) || n > maxListed {
		fail("numbers from %v to %v in steps of %v", start, ends[1], step)
	}
	count := int(max(n, 0))
	switch e {
	case int64s:
		return knownValue(e, fill(count, func(i int) int64 { return int64(start) + int64(i)*int64(step) }), count)
	case int32s:
		return knownValue(e, fill(count, func(i int) int32 { return int32(start) + int32(i)*int32(step) }), count)
	case float32s:
		return knownValue(e, fill(count, func(i int) float32 { return float32(start) + float32(i)*float32(step) }), count)
	case float64s:
		return knownValue(e, fill(count, func(i int) float64 { return start + float64(i)*step }), count)
	}
	fail("ranges of type %s are not supported", e)
	return nil
}

// iota counts along an axis of a shape.
func (o *op) iota(dims []int, axis int) *graph.Node {
	checkSize(dims)
	n := checkListSize(dims[axis])
	count := make([]int, len(dims))
	for i := range count {
		count[i] = 1
	}
	count[axis] = n
	line := graph.ConstTensor(o.g, tensorOf(fill(n, func(i int) int64 { return int64(i) }), []int{n}))
	return broadcast(graph.Reshape(line, count...), dims)
}

// trilu keeps one side of the diagonal k.
func trilu(o *op) *value {
	v := o.in[0]
	if v.rank() < 2 {
		fail("a value of %d axes", v.rank())
	}
	k := int64(0)
	if o.hasInput(1) {
		k = int64(o.numbers(1)[0])
	}
	plane := v.dims[v.rank()-2:]
	offset := graph.Sub(o.iota(plane, 1), o.iota(plane, 0))
	var keep *graph.Node
	if o.flag("upper") {
		keep = graph.GreaterOrEqual(offset, constLike(offset, float64(k)))
	} else {
		keep = graph.LessOrEqual(offset, constLike(offset, float64(k)))
	}
	x := o.inputNode(0)
	if v.elem == bools {
		return computedValue(bools, graph.LogicalAnd(x, broadcast(keep, v.dims)))
	}
	return computedValue(v.elem, graph.Where(broadcast(keep, v.dims), x, constLike(x, 0)))
}

func eyeLike(o *op) *value {
	v := o.in[0]
	if v.rank() != 2 {
		fail("a value of %d axes", v.rank())
	}
	e := v.elem
	if o.attribute("dtype") != nil {
		e = elem(o.int("dtype"))
	}
	if storages[e].dtype == dtypes.InvalidDType {
		fail("a matrix of %s", e)
	}
	offset := graph.Sub(o.iota(v.dims, 1), o.iota(v.dims, 0))
	return computedValue(e, graph.ConvertDType(graph.Equal(offset, constLike(offset, float64(o.int("k")))), e.dtype()))
}

// cumSum sums along an axis up to every element, by doubling strides.
func cumSum(o *op) *value {
	v := o.in[0]
	axis := o.numbers(1)
	if len(axis) != 1 {
		fail("its input 1 is not a single axis")
	}
	at := axisOf(int(axis[0]), v.rank())
	x := o.inputNode(0)
	n := v.dims[at]
	backwards := o.flag("reverse")
	later := func(x *graph.Node, by int) *graph.Node {
		borders := make([][2]int, v.rank())
		borders[at] = [2]int{by, -by}
		return padConstant(x, graph.Scalar(o.g, x.DType(), 0), borders)
	}
	if backwards {
		x = graph.Reverse(x, at)
	}
	if o.flag("exclusive") {
		x = later(x, 1)
	}
	for by := 1; by < n; by *= 2 {
		x = graph.Add(x, later(x, by))
	}
	if backwards {
		x = graph.Reverse(x, at)
	}
	return computedValue(v.elem, x)
}

// blocks returns the lengths of the axes of images, and the size of a block.
func (o *op) blocks() (n, ch, h, w, b int) {
	v := o.in[0]
	if b = o.int("blocksize"); v.rank() != 4 || b < 1 || b > 1<<15 {
		fail("blocks of %d of a value of %d axes", b, v.rank())
	}
	return v.dims[0], v.dims[1], v.dims[2], v.dims[3], b
}

func depthToSpace(o *op) *value {
	n, ch, h, w, b := o.blocks()
	if ch%(b*b) != 0 {
		fail("blocks of %d of %d channels", b, ch)
	}
	x := o.inputNode(0)
	if o.hasAttribute("mode") && o.string("mode") == "CRD" {
		x = permute(graph.Reshape(x, n, ch/(b*b), b, b, h, w), []int{0, 1, 4, 2, 5, 3})
	} else {
		x = permute(graph.Reshape(x, n, b, b, ch/(b*b), h, w), []int{0, 3, 4, 1, 5, 2})
	}
	return computedValue(o.in[0].elem, graph.Reshape(x, n, ch/(b*b), h*b, w*b))
}

func spaceToDepth(o *op) *value {
	n, ch, h, w, b := o.blocks()
	if h%b != 0 || w%b != 0 {
		fail("blocks of %d of images of %d x %d", b, h, w)
	}
	x := permute(graph.Reshape(o.inputNode(0), n, ch, h/b, b, w/b, b), []int{0, 3, 5, 1, 2, 4})
	return computedValue(o.in[0].elem, graph.Reshape(x, n, ch*b*b, h/b, w/b))
}
