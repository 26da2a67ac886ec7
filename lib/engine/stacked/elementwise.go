// Elementwise operations: all operands are broadcast to the shape of the result.

package stacked

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// elementwise records an elementwise operation.
func (f *function) elementwise(op compute.OpType, one oneForm, in ...compute.Value) (compute.Value, error) {
	return f.recordOne(&operation{
		name: op.String(),
		one:  one,
		many: func(e *emission, in []operand, out []*value) []compute.Value {
			aligned := make([]compute.Value, len(in))
			for i, x := range in {
				aligned[i] = e.stackTo(x, out[0].shape.Dimensions)
			}
			return e.tryAll(func() ([]compute.Value, error) { return one(e.on, aligned) })
		},
	}, in...)
}

// The methods of compute.Function for elementwise operations.
type (
	unaryMethod  func(on compute.Function, x compute.Value) (compute.Value, error)
	binaryMethod func(on compute.Function, a, b compute.Value) (compute.Value, error)
)

// unary records an elementwise operation of one operand.
func (f *function) unary(op compute.OpType, method unaryMethod, x compute.Value) (compute.Value, error) {
	return f.elementwise(op, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(method(on, in[0]))
	}, x)
}

// binary records an elementwise operation of two operands.
func (f *function) binary(op compute.OpType, method binaryMethod, a, b compute.Value) (compute.Value, error) {
	return f.elementwise(op, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(method(on, in[0], in[1]))
	}, a, b)
}

// Where implements compute.Function.
func (f *function) Where(condition, onTrue, onFalse compute.Value) (compute.Value, error) {
	return f.elementwise(compute.OpTypeWhere, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(on.Where(in[0], in[1], in[2]))
	}, condition, onTrue, onFalse)
}

// Clamp implements compute.Function.
func (f *function) Clamp(low, x, high compute.Value) (compute.Value, error) {
	return f.elementwise(compute.OpTypeClamp, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(on.Clamp(in[0], in[1], in[2]))
	}, low, x, high)
}

// ConvertDType implements compute.Function.
func (f *function) ConvertDType(x compute.Value, to dtypes.DType) (compute.Value, error) {
	return f.elementwise(compute.OpTypeConvertDType, func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(on.ConvertDType(in[0], to))
	}, x)
}

// Bitcast implements compute.Function. It changes the last axis only, or adds one.
func (f *function) Bitcast(x compute.Value, to dtypes.DType) (compute.Value, error) {
	one := func(on compute.Function, in []compute.Value) ([]compute.Value, error) {
		return asList(on.Bitcast(in[0], to))
	}
	return f.recordOne(&operation{name: compute.OpTypeBitcast.String(), one: one, many: unchanged(one)}, x)
}

// unchanged is the stacked form of an operation that does the same with a leading axis.
func unchanged(one oneForm) manyForm {
	return func(e *emission, in []operand, _ []*value) []compute.Value {
		return e.tryAll(func() ([]compute.Value, error) { return one(e.on, e.stackAll(in)) })
	}
}

// Constant implements compute.Function. The numbers are copied, because the graph is emitted
// later.
func (f *function) Constant(flat any, dims ...int) (compute.Value, error) {
	given := reflect.ValueOf(flat)
	if given.Kind() != reflect.Slice {
		return nil, fmt.Errorf("a constant of %T, want a slice", flat)
	}
	own := reflect.MakeSlice(given.Type(), given.Len(), given.Len())
	reflect.Copy(own, given)
	dims = slices.Clone(dims)
	return f.recordOne(&operation{
		name: compute.OpTypeConstant.String(),
		one: func(on compute.Function, _ []compute.Value) ([]compute.Value, error) {
			return asList(on.Constant(own.Interface(), dims...))
		},
	})
}

// Iota implements compute.Function.
func (f *function) Iota(shape shapes.Shape, axis int) (compute.Value, error) {
	shape = shape.Clone()
	return f.recordOne(&operation{
		name: compute.OpTypeIota.String(),
		one: func(on compute.Function, _ []compute.Value) ([]compute.Value, error) {
			return asList(on.Iota(shape, axis))
		},
	})
}
