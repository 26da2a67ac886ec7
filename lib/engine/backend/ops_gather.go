// Operations with indices that are values: Gather, Scatter, ArgMinMax.

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

// lookup says how indices select slices of a tensor. For every batch index there is a vector
// of starts; start i is on axis starts[i], and the slice has the given size on every axis.
// Axes in dropped have length 1 and do not appear in the result.
type lookup struct {
	vector     int   // the axis of the indices with the vector, or their rank
	starts     []int // axes of the tensor
	size       []int
	dropped    []int // axes of the tensor
	offsets    []int // axes of the other tensor that have a slice
	clamp, min bool
}

// Gather implements compute.Function.
func (f *function) Gather(x, indices compute.Value, vector int, offsets, collapsed, starts, sizes []int, sorted bool) (compute.Value, error) {
	in, err := f.operands(compute.OpTypeGather, []compute.Value{x, indices})
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Gather(in[0].shape, in[1].shape, vector, offsets, collapsed, starts, sizes, sorted)
	if err == nil && indexOf[in[1].shape.DType] == nil {
		err = missing(compute.OpTypeGather)
	}
	l := lookup{vector, slices.Clone(starts), slices.Clone(sizes), slices.Clone(collapsed), slices.Clone(offsets), true, false}
	return f.result(compute.OpTypeGather, shape, err, l, in...)
}

// ScatterSum implements compute.Function.
func (f *function) ScatterSum(x, indices, updates compute.Value, vector int, offsets, inserted, starts []int, sorted, unique bool) (compute.Value, error) {
	return f.scatter(compute.OpTypeScatterSum, x, indices, updates, vector, offsets, inserted, starts)
}

// ScatterMax implements compute.Function.
func (f *function) ScatterMax(x, indices, updates compute.Value, vector int, offsets, inserted, starts []int, sorted, unique bool) (compute.Value, error) {
	return f.scatter(compute.OpTypeScatterMax, x, indices, updates, vector, offsets, inserted, starts)
}

// ScatterMin implements compute.Function.
func (f *function) ScatterMin(x, indices, updates compute.Value, vector int, offsets, inserted, starts []int, sorted, unique bool) (compute.Value, error) {
	return f.scatter(compute.OpTypeScatterMin, x, indices, updates, vector, offsets, inserted, starts)
}

func (f *function) scatter(op compute.OpType, x, indices, updates compute.Value, vector int, offsets, inserted, starts []int) (compute.Value, error) {
	in, err := f.operands(op, []compute.Value{x, indices, updates})
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Scatter(in[0].shape, in[1].shape, in[2].shape, vector, offsets, inserted, starts)
	if err == nil && (indexOf[in[1].shape.DType] == nil || scatterOps[kernelKey{op, in[0].shape.DType}] == nil) {
		err = missing(op)
	}
	if err != nil {
		return nil, fmt.Errorf("backend %s: %s: %w", Name, op, err)
	}
	l := lookup{vector: vector, starts: slices.Clone(starts), dropped: slices.Clone(inserted), offsets: slices.Clone(offsets)}
	k := 0
	for axis := range in[0].shape.Dimensions {
		size := 1
		if !slices.Contains(inserted, axis) {
			size = in[2].shape.Dimensions[offsets[k]]
			k++
		}
		l.size = append(l.size, size)
	}
	return f.result(op, shape, nil, l, in...)
}

// indexOf has the function that reads an index of each type.
var indexOf = map[dtypes.DType]func(p unsafe.Pointer) int{
	dtypes.Int8: index[int8], dtypes.Int16: index[int16], dtypes.Int32: index[int32], dtypes.Int64: index[int64],
	dtypes.Uint8: index[uint8], dtypes.Uint16: index[uint16], dtypes.Uint32: index[uint32], dtypes.Uint64: index[uint64],
}

func index[T integer](p unsafe.Pointer) int { return int(*(*T)(p)) }

// lookupViews is a lookup with its views: the tensor that is indexed, the indices, and the
// other tensor, which has the batch axes and the slice axes.
type lookupViews struct {
	lookup
	x, indices, other view
}

// run is a part of a slice along its longest axis: n elements, whose distances in the other
// tensor and in the indexed one are strides.
type run struct{ axis, n, other, in int }

func (l lookupViews) longestRun() run {
	out, k := run{axis: -1, n: 1}, 0
	for axis, n := range l.size {
		if slices.Contains(l.dropped, axis) {
			continue
		}
		if n >= out.n {
			out = run{axis, n, l.other.strides[l.offsets[k]], l.x.strides[axis]}
		}
		k++
	}
	return out
}

// batch returns the axes of the other tensor that are no slice's, with their lengths.
func (l lookupViews) batch() (axes, dims []int) {
	for i, n := range l.other.dims {
		if !slices.Contains(l.offsets, i) {
			axes, dims = append(axes, i), append(dims, n)
		}
	}
	return axes, dims
}

// forEachRun calls f for every run r of the slices first ... last-1, with the offsets of its
// first element in the other tensor and in the indexed one. Slices that lie outside are moved
// inside if the lookup clamps, otherwise skipped.
func (l lookupViews) forEachRun(x *execution, r run, first, last int, f func(other, in int)) {
	read := indexOf[l.indices.dtype]
	batch, counts := l.batch()
	size := slices.Clone(l.size)
	if r.axis >= 0 {
		size[r.axis] = min(1, r.n)
	}
	place, starts, within := make([]int, len(batch)), make([]int, len(size)), make([]int, len(size))
	for s := first; s < last; s++ {
		base, rest := 0, s
		for i := len(batch) - 1; i >= 0; i-- {
			place[i], rest = rest%counts[i], rest/counts[i]
			base += place[i] * l.other.strides[batch[i]]
		}
		if !l.readStarts(x, read, place, starts) {
			continue
		}
		clear(within)
		forEachIndex(size, within, func() {
			in, out, k := 0, base, 0
			for axis, w := range within {
				in += (starts[axis] + w) * l.x.strides[axis]
				if !slices.Contains(l.dropped, axis) {
					out += w * l.other.strides[l.offsets[k]]
					k++
				}
			}
			f(out, in)
		})
	}
}

// readStarts reads the start of the slice of a batch index; false if it lies outside.
func (l lookupViews) readStarts(x *execution, read func(unsafe.Pointer) int, place, starts []int) bool {
	at, step, k := 0, 0, 0
	for axis := range l.indices.dims {
		if axis == l.vector {
			step = l.indices.strides[axis]
			continue
		}
		at += place[k] * l.indices.strides[axis]
		k++
	}
	clear(starts)
	for i, axis := range l.starts {
		start, last := read(x.viewPtr(l.indices, at+i*step)), l.x.dims[axis]-l.size[axis]
		if l.clamp {
			start = max(0, min(start, last))
		}
		if start < 0 || start > last {
			return false
		}
		starts[axis] = start
	}
	return true
}

func init() {
	stepMakers[compute.OpTypeGather] = func(p *planner, n *node) ([]step, map[int]int, error) {
		return []step{gatherStep{lookupViews{n.attr.(lookup), p.views[n.in[0]], p.views[n.in[1]], p.views[n]}}}, nil, nil
	}
	scatter := func(p *planner, n *node) (steps []step, scratch map[int]int, err error) {
		to, updates := p.views[n], p.views[n.in[2]]
		steps, scratch = []step{denseCopy(p.views[n.in[0]], to)}, map[int]int{}
		l := lookupViews{n.attr.(lookup), to, p.views[n.in[1]], updates}
		if r := l.longestRun(); r.n > 1 && r.other != 1 { // a copy reads far elements in a better order
			l.other = denseView(p.newSlot(), updates.dtype, updates.dims)
			scratch[l.other.slot] = updates.size() * int(updates.dtype.Size())
			steps = append(steps, denseCopy(updates, l.other))
		}
		return append(steps, scatterStep{l, scatterOps[kernelKey{n.op, to.dtype}]}), scratch, nil
	}
	for _, op := range []compute.OpType{compute.OpTypeScatterSum, compute.OpTypeScatterMax, compute.OpTypeScatterMin} {
		stepMakers[op] = scatter
	}
}

// gatherStep copies slices.
type gatherStep struct{ lookupViews }

func (g gatherStep) run(x *execution) {
	r, copies := g.longestRun(), planeCopies[g.x.dtype.Size()]
	p := plane{rows: 1, cols: r.n, fromCol: r.in, toCol: r.other}
	_, counts := g.batch()
	x.parallel(product(counts), max(1, grain/max(1, product(g.size))), func(first, last int) {
		g.forEachRun(x, r, first, last, func(other, in int) { x.check(copies(p, x.viewPtr(g.other, other), x.viewPtr(g.x, in))) })
	})
}

// scatterStep combines updates with elements of a tensor. An element's updates are taken one
// after the other: workers share the elements of a run.
type scatterStep struct {
	lookupViews
	into combine
}

func (c scatterStep) run(x *execution) {
	r := c.longestRun()
	_, counts := c.batch()
	x.parallel(r.n, max(1, grain*r.n/max(1, product(counts)*product(c.size))), func(from, to int) {
		c.forEachRun(x, r, 0, product(counts), func(other, in int) {
			c.into(x.viewPtr(c.x, in+from*r.in), x.viewPtr(c.other, other+from*r.other), to-from, r.in, r.other)
		})
	})
}

// combine combines n elements that are strides apart with others.
type combine func(to, from unsafe.Pointer, n, toStride, fromStride int)

var scatterOps = map[kernelKey]combine{}

func addScatterOps[T number](t dtypes.DType) {
	with := func(f func(a, b T) T) combine {
		return func(to, from unsafe.Pointer, n, toStride, fromStride int) {
			size := int(unsafe.Sizeof(*new(T)))
			for i := range n {
				at := (*T)(unsafe.Add(to, i*toStride*size))
				*at = f(*at, *(*T)(unsafe.Add(from, i*fromStride*size)))
			}
		}
	}
	scatterOps[kernelKey{compute.OpTypeScatterSum, t}] = with(func(a, b T) T { return a + b })
	scatterOps[kernelKey{compute.OpTypeScatterMax, t}] = with(func(a, b T) T { return max(a, b) })
	scatterOps[kernelKey{compute.OpTypeScatterMin, t}] = with(func(a, b T) T { return min(a, b) })
}

// argExtreme is the attribute of ArgMinMax.
type argExtreme struct {
	axis  int
	least bool
}

// ArgMinMax implements compute.Function.
func (f *function) ArgMinMax(x compute.Value, axis int, to dtypes.DType, least bool) (compute.Value, error) {
	return f.unary(compute.OpTypeArgMinMax, x, argExtreme{axis, least}, func(s shapes.Shape) (shapes.Shape, error) {
		if argExtremeKernels[s.DType] == nil || indexOf[to] == nil {
			return s, missing(compute.OpTypeArgMinMax)
		}
		return shapeinference.ArgMinMax(s, axis, to)
	})
}

func init() {
	stepMakers[compute.OpTypeArgMinMax] = func(p *planner, n *node) ([]step, map[int]int, error) {
		return []step{argExtremeStep{n.attr.(argExtreme), p.views[n.in[0]], p.views[n]}}, nil, nil
	}
}

// argExtremeStep finds the first of the extreme elements along an axis; NaN counts as
// extreme.
type argExtremeStep struct {
	argExtreme
	x, to view
}

// argExtremeKernels has the function that finds the index of the extreme of n elements that
// are step apart.
var argExtremeKernels = map[dtypes.DType]func(p unsafe.Pointer, n, step int, least bool) int{}

func findExtreme[T number](p unsafe.Pointer, n, step int, least bool) int {
	at := 0
	var zero T
	value := func(i int) T { return *(*T)(unsafe.Add(p, i*step*int(unsafe.Sizeof(zero)))) }
	most := value(0)
	for i := 1; i < n && most == most; i++ {
		if v := value(i); v != v || (v > most && !least) || (v < most && least) {
			most, at = v, i
		}
	}
	return at
}

func (s argExtremeStep) run(x *execution) {
	outer, strides := slices.Delete(slices.Clone(s.x.dims), s.axis, s.axis+1), slices.Delete(slices.Clone(s.x.strides), s.axis, s.axis+1)
	place, k := make([]int, len(outer)), 0
	write := conversions[[2]dtypes.DType{dtypes.Int64, s.to.dtype}]
	forEachIndex(outer, place, func() {
		at := 0
		for i, p := range place {
			at += p * strides[i]
		}
		found := int64(argExtremeKernels[s.x.dtype](x.viewPtr(s.x, at), s.x.dims[s.axis], s.x.strides[s.axis], s.least))
		write(1, x.viewPtr(s.to, k), unsafe.Pointer(&found), nil, nil)
		k++
	})
}
