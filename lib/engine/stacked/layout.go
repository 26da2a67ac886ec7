// Operations that move elements: reshapes, transpositions, slices, borders, barriers.

package stacked

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
)

// layout records an operation of one operand whose stacked form is a call with other
// arguments. given are the arguments for one model, stacked those with the axis of the
// models.
func layout[A any](f *function, op compute.OpType, x compute.Value, given A, stacked func(models int) A,
	call func(on compute.Function, x compute.Value, args A) (compute.Value, error)) (compute.Value, error) {
	return f.recordOne(&operation{
		name: op.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(call(on, in[0], given))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return e.tryAll(func() ([]compute.Value, error) { return asList(call(e.on, in[0].value, stacked(e.models))) })
		},
	}, x)
}

// Reshape implements compute.Function.
func (f *function) Reshape(x compute.Value, dims ...int) (compute.Value, error) {
	dims = slices.Clone(dims)
	return layout(f, compute.OpTypeReshape, x, dims,
		func(models int) []int { return prepend(models, dims) },
		func(on compute.Function, x compute.Value, dims []int) (compute.Value, error) {
			return on.Reshape(x, dims...)
		})
}

// Transpose implements compute.Function.
func (f *function) Transpose(x compute.Value, permutation ...int) (compute.Value, error) {
	permutation = slices.Clone(permutation)
	return layout(f, compute.OpTypeTranspose, x, permutation,
		func(int) []int { return prepend(0, shifted(permutation)) },
		func(on compute.Function, x compute.Value, p []int) (compute.Value, error) {
			return on.Transpose(x, p...)
		})
}

// Reverse implements compute.Function.
func (f *function) Reverse(x compute.Value, axes ...int) (compute.Value, error) {
	axes = slices.Clone(axes)
	return layout(f, compute.OpTypeReverse, x, axes,
		func(int) []int { return shifted(axes) },
		func(on compute.Function, x compute.Value, axes []int) (compute.Value, error) {
			return on.Reverse(x, axes...)
		})
}

// target is where BroadcastInDim puts a value.
type target struct {
	shape shapes.Shape
	axes  []int
}

// BroadcastInDim implements compute.Function.
func (f *function) BroadcastInDim(x compute.Value, shape shapes.Shape, axes []int) (compute.Value, error) {
	shape, axes = shape.Clone(), slices.Clone(axes)
	return layout(f, compute.OpTypeBroadcastInDim, x, target{shape, axes},
		func(models int) target { return target{withModels(models, shape), prepend(0, shifted(axes))} },
		func(on compute.Function, x compute.Value, to target) (compute.Value, error) {
			return on.BroadcastInDim(x, to.shape, to.axes)
		})
}

// section are the arguments of Slice.
type section struct{ starts, limits, strides []int }

// Slice implements compute.Function.
func (f *function) Slice(x compute.Value, starts, limits, strides []int) (compute.Value, error) {
	starts, limits, strides = slices.Clone(starts), slices.Clone(limits), slices.Clone(strides)
	return layout(f, compute.OpTypeSlice, x, section{starts, limits, strides},
		func(models int) section {
			return section{prepend(0, starts), prepend(models, limits), prependIfAny(1, strides)}
		},
		func(on compute.Function, x compute.Value, s section) (compute.Value, error) {
			return on.Slice(x, s.starts, s.limits, s.strides)
		})
}

// prependIfAny is prepend for a list whose absence means a default.
func prependIfAny[T any](first T, rest []T) []T {
	if len(rest) == 0 {
		return rest
	}
	return prepend(first, rest)
}

// Pad implements compute.Function. The fill value must be shared.
func (f *function) Pad(x, fill compute.Value, axes ...compute.PadAxis) (compute.Value, error) {
	axes = slices.Clone(axes)
	return f.recordOne(&operation{
		name: compute.OpTypePad.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(on.Pad(in[0], in[1], axes...))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			if in[1].stacked {
				e.fail(refused("Pad with a fill value that differs between models"))
			}
			return e.tryAll(func() ([]compute.Value, error) {
				return asList(e.on.Pad(in[0].value, in[1].value, prepend(compute.PadAxis{}, axes)...))
			})
		},
	}, x, fill)
}

// Concatenate implements compute.Function.
func (f *function) Concatenate(axis int, operands ...compute.Value) (compute.Value, error) {
	return f.recordOne(&operation{
		name: compute.OpTypeConcatenate.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(on.Concatenate(axis, in...))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return []compute.Value{e.concatenate(axis+1, e.stackAll(in)...)}
		},
	}, operands...)
}

// OptimizationBarrier implements compute.Function.
func (f *function) OptimizationBarrier(operands ...compute.Value) ([]compute.Value, error) {
	one := func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return on.OptimizationBarrier(in...)
	}
	return f.record(&operation{name: compute.OpTypeOptimizationBarrier.String(), one: one, many: unchanged(one)}, operands...)
}

// SchedulingBarrier implements compute.Function.
func (f *function) SchedulingBarrier(x compute.Value, dependencies ...compute.Value) (compute.Value, error) {
	one := func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(on.SchedulingBarrier(in[0], in[1:]...))
	}
	return f.recordOne(&operation{name: compute.OpTypeSchedulingBarrier.String(), one: one, many: unchanged(one)}, prepend(x, dependencies)...)
}

// FFT implements compute.Function, for shared values.
func (f *function) FFT(x compute.Value, kind compute.FFTType, length []int) (compute.Value, error) {
	length = slices.Clone(length)
	return f.recordOne(&operation{
		name: compute.OpTypeFFT.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(on.FFT(in[0], kind, length))
		},
	}, x)
}

// RNGBitGenerator implements compute.Function, for a shared state.
func (f *function) RNGBitGenerator(state compute.Value, shape shapes.Shape) (newState, values compute.Value, err error) {
	out, err := f.record(&operation{
		name: compute.OpTypeRNGBitGenerator.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			state, values, err := on.RNGBitGenerator(in[0], shape)
			return []compute.Value{state, values}, err
		},
	}, state)
	if err != nil {
		return nil, nil, err
	}
	return out[0], out[1], nil
}
