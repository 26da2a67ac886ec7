// Reductions along axes, and the extremes and running sums along one.

package stacked

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// reduction is a method of compute.Function for a reduction. Without axes it is over all.
type reduction func(on compute.Function, x compute.Value, axes ...int) (compute.Value, error)

// reduce records a reduction.
func (f *function) reduce(op compute.OpType, method reduction, x compute.Value, axes []int) (compute.Value, error) {
	axes = slices.Clone(axes)
	return f.recordOne(&operation{
		name: op.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(method(on, in[0], axes...))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			over := shifted(axes)
			if len(over) == 0 {
				over = axesFrom(1, in[0].shape.Rank())
			}
			if len(over) == 0 { // one number per model
				return []compute.Value{in[0].value}
			}
			return e.tryAll(func() ([]compute.Value, error) { return asList(method(e.on, in[0].value, over...)) })
		},
	}, x)
}

// alongAxis records an operation along one axis of its operand.
func (f *function) alongAxis(op compute.OpType, x compute.Value, axis int,
	call func(on compute.Function, x compute.Value, axis int) (compute.Value, error)) (compute.Value, error) {
	return f.recordOne(&operation{
		name: op.String(),
		one: func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
			return asList(call(on, in[0], axis))
		},
		many: func(e *emission, in []operand, _ []*value) []compute.Value {
			return e.tryAll(func() ([]compute.Value, error) { return asList(call(e.on, in[0].value, axis+1)) })
		},
	}, x)
}

// ArgMinMax implements compute.Function.
func (f *function) ArgMinMax(x compute.Value, axis int, to dtypes.DType, least bool) (compute.Value, error) {
	return f.alongAxis(compute.OpTypeArgMinMax, x, axis, func(on compute.Function, x compute.Value, axis int) (compute.Value, error) {
		return on.ArgMinMax(x, axis, to, least)
	})
}

// CumSum implements compute.Function.
func (f *function) CumSum(x compute.Value, axis int, options compute.CumSumOptions) (compute.Value, error) {
	return f.alongAxis(compute.OpTypeCumSum, x, axis, func(on compute.Function, x compute.Value, axis int) (compute.Value, error) {
		return on.CumSum(x, axis, options)
	})
}

// ReduceBitwiseAnd implements compute.Function.
func (f *function) ReduceBitwiseAnd(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceBitwiseAnd, compute.Function.ReduceBitwiseAnd, x, axes)
}

// ReduceBitwiseOr implements compute.Function.
func (f *function) ReduceBitwiseOr(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceBitwiseOr, compute.Function.ReduceBitwiseOr, x, axes)
}

// ReduceBitwiseXor implements compute.Function.
func (f *function) ReduceBitwiseXor(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceBitwiseXor, compute.Function.ReduceBitwiseXor, x, axes)
}

// ReduceLogicalAnd implements compute.Function.
func (f *function) ReduceLogicalAnd(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalAnd, compute.Function.ReduceLogicalAnd, x, axes)
}

// ReduceLogicalOr implements compute.Function.
func (f *function) ReduceLogicalOr(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalOr, compute.Function.ReduceLogicalOr, x, axes)
}

// ReduceLogicalXor implements compute.Function.
func (f *function) ReduceLogicalXor(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceLogicalXor, compute.Function.ReduceLogicalXor, x, axes)
}

// ReduceMax implements compute.Function.
func (f *function) ReduceMax(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceMax, compute.Function.ReduceMax, x, axes)
}

// ReduceMin implements compute.Function.
func (f *function) ReduceMin(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceMin, compute.Function.ReduceMin, x, axes)
}

// ReduceProduct implements compute.Function.
func (f *function) ReduceProduct(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceProduct, compute.Function.ReduceProduct, x, axes)
}

// ReduceSum implements compute.Function.
func (f *function) ReduceSum(x compute.Value, axes ...int) (compute.Value, error) {
	return f.reduce(compute.OpTypeReduceSum, compute.Function.ReduceSum, x, axes)
}
