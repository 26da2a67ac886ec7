// The emission of a recorded function on the real backend, with the axis of the models.

package stacked

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// operand is an emitted value.
type operand struct {
	value   compute.Value
	shape   shapes.Shape // for one model
	stacked bool         // whether the value has a leading axis of the models
}

// emission is the emission of one function. Its helpers return values of the real backend;
// after an error they do nothing, and err has the first one.
type emission struct {
	on     compute.Function
	models int
	outer  *emission // of the function around a closure
	values map[*value]operand
	err    error
}

// emitMain emits the main function. All results come out stacked.
func (f *function) emitMain(on compute.Function) error {
	e := &emission{on: on, models: f.builder.models, values: map[*value]operand{}}
	if len(f.params) != len(f.builder.inputs) {
		return fmt.Errorf("the graph has %d parameters besides its inputs", len(f.params)-len(f.builder.inputs))
	}
	stacked := make([]bool, len(f.params))
	for i, in := range f.builder.inputs {
		stacked[i] = !in.Shared
	}
	out := e.emitFunction(f, e.parameters(f, stacked))
	values := make([]compute.Value, len(out))
	for i, v := range out {
		values[i] = e.stack(v)
	}
	return e.finish(values)
}

// parameters emits the parameters of a function.
func (e *emission) parameters(f *function, stacked []bool) []operand {
	params := make([]operand, len(f.params))
	for i, p := range f.params {
		shape := p.shape
		if stacked[i] {
			shape = withModels(e.models, shape)
		}
		v := e.try(func() (compute.Value, error) { return e.on.Parameter(f.names[i], shape, nil) })
		params[i] = operand{v, p.shape, stacked[i]}
	}
	return params
}

// finish returns from the function.
func (e *emission) finish(values []compute.Value) error {
	if e.err != nil {
		return e.err
	}
	return e.on.Return(values, nil)
}

// emitFunction emits the operations of a function and returns its results.
func (e *emission) emitFunction(f *function, params []operand) []operand {
	for i, p := range f.params {
		e.values[p] = params[i]
	}
	for _, o := range f.operations {
		for i, v := range e.emitOperation(o) {
			e.values[o.out[i]] = v
		}
		if e.err != nil {
			return nil
		}
	}
	return e.operands(f.outputs)
}

// emitOperation emits an operation and returns its results.
func (e *emission) emitOperation(o *operation) []operand {
	in := e.operands(o.in)
	if o.flow != nil {
		return o.flow.emit(e, in)
	}
	stacked := slices.ContainsFunc(in, func(x operand) bool { return x.stacked })
	var values []compute.Value
	switch {
	case !stacked:
		values = e.tryAll(func() ([]compute.Value, error) { return o.one(e.on, plainValues(in)) })
	case o.many == nil:
		e.fail(refused(o.name))
	default:
		values = o.many(e, in, o.out)
	}
	if e.err != nil {
		return nil
	}
	out := make([]operand, len(values))
	for i, v := range values {
		out[i] = operand{v, o.out[i].shape, stacked}
	}
	return out
}

// operands returns emitted values, those of functions around included.
func (e *emission) operands(in []*value) []operand {
	out := make([]operand, len(in))
	for i, v := range in {
		x, ok := e.find(v)
		if !ok {
			e.fail(fmt.Errorf("a function uses a value of a function that is not around it"))
		}
		out[i] = x
	}
	return out
}

func (e *emission) find(v *value) (operand, bool) {
	for ; e != nil; e = e.outer {
		if x, ok := e.values[v]; ok {
			return x, true
		}
	}
	return operand{}, false
}

func plainValues(in []operand) []compute.Value {
	out := make([]compute.Value, len(in))
	for i, x := range in {
		out[i] = x.value
	}
	return out
}

func (e *emission) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// try returns the result of f, or nil after an error.
func (e *emission) try(f func() (compute.Value, error)) compute.Value {
	if out := e.tryAll(func() ([]compute.Value, error) { return asList(f()) }); out != nil {
		return out[0]
	}
	return nil
}

// tryAll returns the results of f, or nil after an error.
func (e *emission) tryAll(f func() ([]compute.Value, error)) []compute.Value {
	if e.err != nil {
		return nil
	}
	out, err := f()
	if err != nil {
		e.fail(err)
		return nil
	}
	return out
}

// withModels returns a shape with a leading axis of the models.
func withModels(models int, s shapes.Shape) shapes.Shape {
	return shapes.Make(s.DType, prepend(models, s.Dimensions)...)
}

// stack returns a value with the leading axis: a shared value is repeated.
func (e *emission) stack(x operand) compute.Value { return e.stackTo(x, x.shape.Dimensions) }

// stackTo returns a value, broadcast to [models, dims...]. It is a scalar or has the rank of
// dims.
func (e *emission) stackTo(x operand, dims []int) compute.Value {
	if x.stacked && slices.Equal(x.shape.Dimensions, dims) {
		return x.value
	}
	axes := axesFrom(1, x.shape.Rank())
	if x.stacked {
		axes = prepend(0, axes)
	}
	return e.broadcast(x.value, x.shape.DType, prepend(e.models, dims), axes)
}

// stackAll returns values with the leading axis.
func (e *emission) stackAll(in []operand) []compute.Value {
	out := make([]compute.Value, len(in))
	for i, x := range in {
		out[i] = e.stack(x)
	}
	return out
}

func (e *emission) broadcast(v compute.Value, t dtypes.DType, dims, axes []int) compute.Value {
	return e.try(func() (compute.Value, error) { return e.on.BroadcastInDim(v, shapes.Make(t, dims...), axes) })
}

func (e *emission) reshape(v compute.Value, dims ...int) compute.Value {
	return e.try(func() (compute.Value, error) { return e.on.Reshape(v, dims...) })
}

func (e *emission) transpose(v compute.Value, permutation ...int) compute.Value {
	if slices.Equal(permutation, axesFrom(0, len(permutation))) {
		return v
	}
	return e.try(func() (compute.Value, error) { return e.on.Transpose(v, permutation...) })
}

func (e *emission) concatenate(axis int, in ...compute.Value) compute.Value {
	return e.try(func() (compute.Value, error) { return e.on.Concatenate(axis, in...) })
}

// moveToFront moves an axis of a value of the given rank to the front.
func (e *emission) moveToFront(v compute.Value, rank, axis int) compute.Value {
	rest := slices.Delete(axesFrom(0, rank), axis, axis+1)
	return e.transpose(v, prepend(axis, rest)...)
}

// merge moves the axis of the models of a value [models, dims...] into an axis, which gets
// models times as long. The axis counts among dims. Its elements are groups; within each
// group the models come first.
func (e *emission) merge(v compute.Value, dims []int, axis, groups int) compute.Value {
	split := slices.Concat([]int{e.models}, dims[:axis], []int{groups, dims[axis] / groups}, dims[axis+1:])
	order := slices.Delete(axesFrom(0, len(split)), 0, 1)
	order = slices.Insert(order, axis+1, 0) // after the groups
	merged := slices.Clone(dims)
	merged[axis] *= e.models
	return e.reshape(e.transpose(e.reshape(v, split...), order...), merged...)
}

// unmerge is the inverse of merge: the result is [models, dims...].
func (e *emission) unmerge(v compute.Value, dims []int, axis, groups int) compute.Value {
	split := slices.Concat(dims[:axis], []int{groups, e.models, dims[axis] / groups}, dims[axis+1:])
	front := e.moveToFront(e.reshape(v, split...), len(split), axis+1)
	return e.reshape(front, prepend(e.models, dims)...)
}

// prepend returns a list with a first element more.
func prepend[T any](first T, rest []T) []T { return append([]T{first}, rest...) }

// axesFrom returns n axes, counted from first.
func axesFrom(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

// shifted returns axes of one model's value as axes of a stacked value.
func shifted(axes []int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = a + 1
	}
	return out
}
