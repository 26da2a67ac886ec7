// Operators that gather, scatter and sort.

package onnx

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
)

// indices returns the indices of an input, counted from the start of an axis of n elements.
// Every batch with an index out of range is refused.
func (o *op) indices(i, n int) *graph.Node {
	at := graph.ConvertDType(o.inputNode(i), dtypes.Int64)
	inside := graph.LogicalAnd(graph.GreaterOrEqual(at, constLike(at, float64(-n))), graph.LessThan(at, constLike(at, float64(n))))
	o.requireAlways(inside, "an index lies outside an axis of %d elements", n)
	return graph.Where(graph.LessThan(at, constLike(at, 0)), graph.Add(at, constLike(at, float64(n))), at)
}

// takeAlong returns the elements of an axis at the indices.
func takeAlong(x, at *graph.Node, axis int) *graph.Node {
	have, index := x.Shape().Dimensions, at.Shape().Dimensions
	checkSize(slices.Concat(have[:axis], index, have[axis+1:]))
	sizes := slices.Clone(have)
	sizes[axis] = 1
	var offsets []int
	for i := range len(have) - 1 {
		if i >= axis {
			i += len(index)
		}
		offsets = append(offsets, i)
	}
	at = graph.Reshape(at, append(slices.Clone(index), 1)...)
	return graph.BackendGather(x, at, len(index), offsets, []int{axis}, []int{axis}, sizes, false)
}

func gather(o *op) *value {
	v := o.in[0]
	axis := o.axis(v.rank())
	if v.elem == texts {
		return o.gatherTexts()
	}
	if o.in[1].size() == 0 {
		return o.empty(v.elem, slices.Concat(v.dims[:axis], o.in[1].dims, v.dims[axis+1:]))
	}
	if v.dims[axis] == 0 {
		fail("an index into an axis of no elements")
	}
	return computedValue(v.elem, takeAlong(o.inputNode(0), o.indices(1, v.dims[axis]), axis))
}

// gatherTexts looks up strings where everything is constant.
func (o *op) gatherTexts() *value {
	v := o.in[0]
	if !v.known {
		fail("computing with strings is not supported")
	}
	at := o.numbers(1)
	if v.rank() != 1 {
		fail("strings of %d axes", v.rank())
	}
	out := &value{elem: texts, dims: o.in[1].dims, known: true}
	for _, i := range at {
		out.text = append(out.text, v.text[axisOf(int(i), len(v.text))])
	}
	return out
}

// flatList flattens a value.
func flatList(x *graph.Node) *graph.Node { return graph.Reshape(x, x.Shape().Size()) }

// gatherElements has an index for every element of its result.
func gatherElements(o *op) *value {
	v, index := o.in[0], o.in[1]
	axis := o.axis(v.rank())
	if index.rank() != v.rank() {
		fail("indices of %d axes into %d", index.rank(), v.rank())
	}
	for i, d := range index.dims {
		if i != axis && d > v.dims[i] {
			fail("indices of shape %v into %v", index.dims, v.dims)
		}
	}
	at := o.flatIndices(1, axis, v.dims)
	return computedValue(v.elem, graph.Reshape(takeAlong(flatList(o.inputNode(0)), flatList(at), 0), index.dims...))
}

// flatIndices returns the positions of an input's indices along an axis in the flattened
// value.
func (o *op) flatIndices(i, axis int, dims []int) *graph.Node {
	at := o.indices(i, dims[axis])
	index := at.Shape().Dimensions
	step := 1
	flat := constLike(at, 0)
	for k := len(dims) - 1; k >= 0; k-- {
		along := at
		if k != axis {
			along = o.iota(index, k)
		}
		flat = graph.Add(flat, graph.Mul(along, constLike(at, float64(step))))
		step *= dims[k]
	}
	return flat
}

// gatherND has tuples of indices in the last axis.
func gatherND(o *op) *value {
	v, index := o.in[0], o.in[1]
	batch := 0
	if o.hasAttribute("batch_dims") {
		batch = o.int("batch_dims")
	}
	at, depth := o.tupleIndices(1, v.dims, batch)
	outer := slices.Concat(index.dims[:index.rank()-1], v.dims[batch+depth:])
	rows := 1
	for _, d := range v.dims[:batch+depth] {
		rows *= d
	}
	x := graph.Reshape(o.inputNode(0), rows, v.size()/max(1, rows))
	return computedValue(v.elem, graph.Reshape(takeAlong(x, flatList(at), 0), checkSize(outer)...))
}

// tupleIndices returns the positions that an input's tuples select in the list of slices of
// a value, and the length of the tuples.
func (o *op) tupleIndices(i int, dims []int, batch int) (at *graph.Node, depth int) {
	index := o.in[i]
	if index.rank() < 1+batch || batch < 0 || batch > len(dims) {
		fail("indices of shape %v with %d axes of a batch", index.dims, batch)
	}
	for k := range batch {
		if index.dims[k] != dims[k] {
			fail("indices of shape %v into %v", index.dims, dims)
		}
	}
	last := index.rank() - 1
	if depth = index.dims[last]; depth < 1 || batch+depth > len(dims) {
		fail("indices of shape %v into %v", index.dims, dims)
	}
	outer := index.dims[:last]
	all := graph.ConvertDType(o.inputNode(i), dtypes.Int64)
	step := 1
	for k := batch + depth - 1; k >= 0; k-- {
		var along *graph.Node
		if k < batch {
			along = o.iota(outer, k)
		} else {
			along = graph.Reshape(sliceAxis(all, last, k-batch, 1, 1), outer...)
			n := dims[k]
			inside := graph.LogicalAnd(graph.GreaterOrEqual(along, constLike(along, float64(-n))), graph.LessThan(along, constLike(along, float64(n))))
			o.requireAlways(inside, "an index lies outside an axis of %d elements", n)
			along = graph.Where(graph.LessThan(along, constLike(along, 0)), graph.Add(along, constLike(along, float64(n))), along)
		}
		along = graph.Mul(along, constLike(along, float64(step)))
		if at == nil {
			at = along
		} else {
			at = graph.Add(at, along)
		}
		step *= dims[k]
	}
	return at, depth
}

// scatterElements and scatterND write elements of the third input over others of the first.
// The indices must be constant; of repeated ones the last one counts.
func scatterElements(o *op) *value {
	v, index := o.in[0], o.in[1]
	axis := o.axis(v.rank())
	if index.rank() != v.rank() || !slices.Equal(index.dims, o.in[2].dims) {
		fail("indices of shape %v and updates of shape %v into %v", index.dims, o.in[2].dims, v.dims)
	}
	at := o.numbers(1)
	n := v.dims[axis]
	place := make([]int, v.rank())
	var flat []int
	for _, a := range at {
		spot := 0
		for k, d := range v.dims {
			p := place[k]
			if k == axis {
				p = axisOf(int(a), n)
			}
			if p >= d {
				fail("indices of shape %v into %v", index.dims, v.dims)
			}
			spot = spot*d + p
		}
		flat = append(flat, spot)
		for k := v.rank() - 1; k >= 0; k-- {
			if place[k]++; place[k] < index.dims[k] {
				break
			}
			place[k] = 0
		}
	}
	return o.scatterRows(flat, 1)
}

func scatterND(o *op) *value {
	v, index := o.in[0], o.in[1]
	if index.rank() < 1 {
		fail("indices without axes")
	}
	depth := index.dims[index.rank()-1]
	if depth < 1 || depth > v.rank() {
		fail("indices of shape %v into %v", index.dims, v.dims)
	}
	if want := slices.Concat(index.dims[:index.rank()-1], v.dims[depth:]); !slices.Equal(want, o.in[2].dims) {
		fail("updates of shape %v, and not %v", o.in[2].dims, want)
	}
	width := 1
	for _, d := range v.dims[depth:] {
		width *= d
	}
	at := o.numbers(1)
	var flat []int
	for ; len(at) > 0; at = at[depth:] {
		spot := 0
		for k, a := range at[:depth] {
			spot = spot*v.dims[k] + axisOf(int(a), v.dims[k])
		}
		flat = append(flat, spot)
	}
	return o.scatterRows(flat, width)
}

// scatterRows writes rows of updates, of width elements each, over rows of a value.
func (o *op) scatterRows(at []int, width int) *value {
	v := o.in[0]
	rows := v.size() / max(1, width)
	if rows > 8*maxListed {
		fail("a value of %d rows is too large to write to", rows)
	}
	from := fill(rows, func(i int) int64 { return int64(i) })
	for i, spot := range at {
		from[spot] = int64(rows + i)
	}
	if len(at) == 0 {
		return v
	}
	both := graph.Concatenate([]*graph.Node{graph.Reshape(o.inputNode(0), rows, width), graph.Reshape(o.inputNode(2), len(at), width)}, 0)
	index := o.nodeOf(knownValue(int64s, from, rows))
	return computedValue(v.elem, graph.Reshape(takeAlong(both, index, 0), v.dims...))
}

// nonZero returns the positions of non-zero elements of a constant: otherwise their number
// would depend on the records.
func nonZero(o *op) *value {
	v := o.in[0]
	if !v.known {
		fail("its input must not depend on the records")
	}
	var there []int
	for i := range v.size() {
		if e := reflect.ValueOf(v.flat).Index(i); !e.Equal(reflect.Zero(e.Type())) {
			there = append(there, i)
		}
	}
	flat := make([]int64, 0, v.rank()*len(there))
	step := v.size()
	for _, d := range v.dims {
		step /= max(1, d)
		for _, i := range there {
			flat = append(flat, int64(i/step%d))
		}
	}
	return knownValue(int64s, flat, v.rank(), len(there))
}

// oneHot has one of two values where the index equals the position.
func oneHot(o *op) *value {
	index := o.in[0]
	depth := o.numbers(1)
	if len(depth) != 1 || depth[0] < 1 || depth[0] > maxBytes || o.in[2].size() != 2 {
		fail("a depth of %v", depth)
	}
	n := int(depth[0])
	axis := axisOf(o.int("axis"), index.rank()+1)
	dims := slices.Insert(slices.Clone(index.dims), axis, n)
	checkSize(dims)
	at := o.inputNode(0)
	if index.elem.isFloat() {
		o.checkRange(at, int64s)
		at = truncate(at)
	}
	at = graph.ConvertDType(at, dtypes.Int64)
	at = graph.Where(graph.LessThan(at, constLike(at, 0)), graph.Add(at, constLike(at, float64(n))), at)
	at = broadcast(graph.Reshape(at, slices.Insert(slices.Clone(index.dims), axis, 1)...), dims)
	off := broadcast(graph.Reshape(sliceAxis(o.inputNode(2), 0, 0, 1, 1)), dims)
	on := broadcast(graph.Reshape(sliceAxis(o.inputNode(2), 0, 1, 1, 1)), dims)
	return computedValue(o.in[2].elem, graph.Where(graph.Equal(at, o.iota(dims, axis)), on, off))
}

// argExtreme returns the position of the largest element along an axis, or of the smallest;
// of several the first, or the last.
func argExtreme(least bool) func(o *op) []*value {
	return singleResult(func(o *op) *value {
		v := o.in[0]
		axis := o.axis(v.rank())
		x := o.inputNode(0)
		last := o.hasAttribute("select_last_index") && o.flag("select_last_index")
		if last {
			x = graph.Reverse(x, axis)
		}
		seek := graph.ArgMax
		if least {
			seek = graph.ArgMin
		}
		at := seek(x, axis, dtypes.Int64)
		if last {
			at = graph.Sub(constLike(at, float64(v.dims[axis]-1)), at)
		}
		return computedValue(int64s, o.keepDims(at, v.dims, []int{axis}))
	})
}

// topK returns the k largest elements along an axis, or the smallest, in order, and their
// positions. The rank of an element is the number of elements before it.
func topK(o *op) []*value {
	v := o.in[0]
	axis := o.axis(v.rank())
	var k int
	if o.hasAttribute("k") {
		k = o.int("k")
	} else if list := o.ints(1); len(list) == 1 {
		k = list[0]
	}
	n := v.dims[axis]
	if k < 1 || k > n {
		fail("the first %d of %d elements", k, n)
	}
	// The axis last; before it the one to compare with.
	var order []int
	for i := range v.rank() {
		if i != axis {
			order = append(order, i)
		}
	}
	x := permute(o.inputNode(0), append(order, axis))
	outer := slices.Clone(x.Shape().Dimensions[:v.rank()-1])
	square := slices.Concat(outer, []int{n, n})
	checkSize(square)
	rows := slices.Concat(outer, []int{n, 1})
	mine, other := broadcast(graph.Reshape(x, rows...), square), broadcast(graph.Reshape(x, slices.Concat(outer, []int{1, n})...), square)
	before := graph.GreaterThan(other, mine)
	if o.hasAttribute("largest") && !o.flag("largest") {
		before = graph.LessThan(other, mine)
	}
	last := len(square) - 1
	earlier := graph.LessThan(o.iota(square, last), o.iota(square, last-1))
	before = graph.LogicalOr(before, graph.LogicalAnd(graph.Equal(other, mine), earlier))
	place := graph.ReduceSum(graph.ConvertDType(before, dtypes.Int64), last)
	// For every position the one element of that rank.
	wide := slices.Concat(outer, []int{k, n})
	checkSize(wide)
	lay := func(x *graph.Node) *graph.Node {
		return broadcast(graph.Reshape(x, slices.Concat(outer, []int{1, n})...), wide)
	}
	its := graph.Equal(lay(place), o.iota(wide, last-1))
	pick := func(x *graph.Node) *graph.Node { return graph.ReduceSum(graph.Where(its, x, constLike(x, 0)), last) }
	back := slices.Insert(iotaList(v.rank()-1), axis, v.rank()-1)
	return []*value{computedValue(v.elem, permute(pick(lay(x)), back)), computedValue(int64s, permute(pick(o.iota(wide, last)), back))}
}

func iotaList(n int) []int { return fill(n, func(i int) int { return i }) }
