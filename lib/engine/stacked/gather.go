// Operations with indices that are values: Gather, Scatter, DynamicSlice.

package stacked

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// gather has the arguments of Gather.
type gather struct {
	vector                            int // axis of the indices with the index vector, or their rank
	offsets, collapsed, starts, sizes []int
	sorted                            bool
}

// Gather implements compute.Function.
func (f *function) Gather(x, indices compute.Value, vector int, offsets, collapsed, starts, sizes []int, sorted bool) (compute.Value, error) {
	g := gather{vector, slices.Clone(offsets), slices.Clone(collapsed), slices.Clone(starts), slices.Clone(sizes), sorted}
	return f.recordOne(&operation{
		name: compute.OpTypeGather.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(g.call(on, in[0], in[1]))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return []compute.Value{g.emit(e, in[0], in[1])}
		},
	}, x, indices)
}

func (g gather) call(on compute.Function, x, indices compute.Value) (compute.Value, error) {
	return on.Gather(x, indices, g.vector, g.offsets, g.collapsed, g.starts, g.sizes, g.sorted)
}

// emit emits the lookup.
//   - Operand only stacked: every slice has the axis of the models too.
//   - Indices only: the models are one more axis of the indices.
//   - Both: the index vectors get the number of the model.
func (g gather) emit(e *emission, x, indices operand) compute.Value {
	i := indices.value
	if x.stacked {
		g.collapsed, g.starts = shifted(g.collapsed), shifted(g.starts)
	}
	switch {
	case !indices.stacked:
		g.offsets, g.sizes = prepend(0, shifted(g.offsets)), prepend(e.models, g.sizes)
	case !x.stacked:
		g.vector, g.offsets, g.sorted = g.vector+1, shifted(g.offsets), false
	default:
		i, g.vector = e.withModelNumbers(indices, g.vector), g.vector+1
		g.offsets, g.sizes = shifted(g.offsets), prepend(1, g.sizes)
		g.collapsed, g.starts = prepend(0, g.collapsed), prepend(0, g.starts)
	}
	return e.try(func() (compute.Value, error) { return g.call(e.on, x.value, i) })
}

// withModelNumbers returns stacked indices whose vectors begin with the number of the model.
// vector is the axis of the vectors in one model's indices, or their rank.
func (e *emission) withModelNumbers(indices operand, vector int) compute.Value {
	v, t, dims := e.stack(indices), indices.shape.DType, prepend(e.models, indices.shape.Dimensions)
	if vector+1 == len(dims) { // vectors of one number without an axis
		dims = append(dims, 1)
		v = e.reshape(v, dims...)
	}
	if t.Size() < 4 { // may be too small for the number of a model
		t = dtypes.Int32
		v = e.try(func() (compute.Value, error) { return e.on.ConvertDType(v, t) })
	}
	dims[vector+1] = 1
	numbers := e.try(func() (compute.Value, error) { return e.on.Iota(shapes.Make(t, dims...), 0) })
	return e.concatenate(vector+1, numbers, v)
}

// scatter has the arguments of the Scatter operations.
type scatter struct {
	method                    scatterMethod
	vector                    int
	windows, inserted, starts []int
	sorted, unique            bool
}

type scatterMethod func(on compute.Function, x, indices, updates compute.Value, vector int,
	windows, inserted, starts []int, sorted, unique bool) (compute.Value, error)

// ScatterSum implements compute.Function.
func (f *function) ScatterSum(x, indices, updates compute.Value, vector int, windows, inserted, starts []int,
	sorted, unique bool) (compute.Value, error) {
	s := scatter{compute.Function.ScatterSum, vector, windows, inserted, starts, sorted, unique}
	return f.scatter(compute.OpTypeScatterSum, s, x, indices, updates)
}

// ScatterMax implements compute.Function.
func (f *function) ScatterMax(x, indices, updates compute.Value, vector int, windows, inserted, starts []int,
	sorted, unique bool) (compute.Value, error) {
	s := scatter{compute.Function.ScatterMax, vector, windows, inserted, starts, sorted, unique}
	return f.scatter(compute.OpTypeScatterMax, s, x, indices, updates)
}

// ScatterMin implements compute.Function.
func (f *function) ScatterMin(x, indices, updates compute.Value, vector int, windows, inserted, starts []int,
	sorted, unique bool) (compute.Value, error) {
	s := scatter{compute.Function.ScatterMin, vector, windows, inserted, starts, sorted, unique}
	return f.scatter(compute.OpTypeScatterMin, s, x, indices, updates)
}

func (f *function) scatter(op compute.OpType, s scatter, x, indices, updates compute.Value) (compute.Value, error) {
	s.windows, s.inserted, s.starts = slices.Clone(s.windows), slices.Clone(s.inserted), slices.Clone(s.starts)
	return f.recordOne(&operation{
		name: op.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(s.call(on, in[0], in[1], in[2]))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return []compute.Value{s.emit(e, in[0], in[1], in[2])}
		},
	}, x, indices, updates)
}

func (s scatter) call(on compute.Function, x, indices, updates compute.Value) (compute.Value, error) {
	return s.method(on, x, indices, updates, s.vector, s.windows, s.inserted, s.starts, s.sorted, s.unique)
}

// emit emits the operation on a stacked tensor and stacked updates. With shared indices every
// window has the axis of the models too; with stacked ones the index vectors get the number
// of the model.
func (s scatter) emit(e *emission, x, indices, updates operand) compute.Value {
	i := indices.value
	s.windows, s.inserted, s.starts = shifted(s.windows), shifted(s.inserted), shifted(s.starts)
	if indices.stacked {
		i, s.vector = e.withModelNumbers(indices, s.vector), s.vector+1
		s.inserted, s.starts = prepend(0, s.inserted), prepend(0, s.starts)
	} else {
		s.windows = prepend(0, s.windows)
	}
	base, added := e.stack(x), e.stack(updates)
	return e.try(func() (compute.Value, error) { return s.call(e.on, base, i, added) })
}

// DynamicSlice implements compute.Function.
func (f *function) DynamicSlice(x compute.Value, starts []compute.Value, sizes []int) (compute.Value, error) {
	sizes = slices.Clone(sizes)
	return f.recordOne(&operation{
		name: compute.OpTypeDynamicSlice.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(on.DynamicSlice(in[0], in[1:], sizes))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return []compute.Value{e.dynamicSlice(in[0], in[1:], sizes)}
		},
	}, prepend(x, starts)...)
}

// dynamicSlice emits a slice at shared starts, or else a lookup, which moves a slice inside
// the tensor as DynamicSlice does.
func (e *emission) dynamicSlice(x operand, starts []operand, sizes []int) compute.Value {
	if len(starts) == 0 { // of a number
		return x.value
	}
	if !anyStacked(starts) {
		at := prepend(e.zero(starts[0]), plainValues(starts))
		return e.try(func() (compute.Value, error) { return e.on.DynamicSlice(x.value, at, prepend(e.models, sizes)) })
	}
	columns := make([]compute.Value, len(starts))
	for i, s := range starts {
		columns[i] = e.reshape(e.stack(s), e.models, 1)
	}
	axes := axesFrom(0, len(starts))
	indices := operand{e.concatenate(1, columns...), shapes.Make(starts[0].shape.DType, len(starts)), true}
	return gather{offsets: axes, starts: axes, sizes: sizes}.emit(e, x, indices)
}

func anyStacked(in []operand) bool {
	return slices.ContainsFunc(in, func(x operand) bool { return x.stacked })
}

// zero returns a scalar 0 of the type of x.
func (e *emission) zero(x operand) compute.Value {
	v := e.try(func() (compute.Value, error) { return e.on.Constant([]int32{0}) })
	if x.shape.DType == dtypes.Int32 {
		return v
	}
	return e.try(func() (compute.Value, error) { return e.on.ConvertDType(v, x.shape.DType) })
}

// DynamicUpdateSlice implements compute.Function. The starts must be shared.
func (f *function) DynamicUpdateSlice(x, update compute.Value, starts []compute.Value) (compute.Value, error) {
	return f.recordOne(&operation{
		name: compute.OpTypeDynamicUpdateSlice.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(on.DynamicUpdateSlice(in[0], in[1], in[2:]))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			if anyStacked(in[2:]) {
				e.fail(refused("DynamicUpdateSlice at indices that differ between models"))
				return nil
			}
			if len(in) == 2 { // of a number
				return []compute.Value{e.stack(in[1])}
			}
			at := prepend(e.zero(in[2]), plainValues(in[2:]))
			base, with := e.stack(in[0]), e.stack(in[1])
			return e.tryAll(func() ([]compute.Value, error) { return asList(e.on.DynamicUpdateSlice(base, with, at)) })
		},
	}, slices.Concat([]compute.Value{x, update}, starts)...)
}
