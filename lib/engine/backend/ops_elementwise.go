// Recording of elementwise operations, and the list of all operations that the backend supports.

package backend

import (
	"maps"
	"slices"
	"sync"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
	"github.com/gomlx/compute/shapes"
)

// elementwise returns the elementwise operations: those that have a kernel.
var elementwise = sync.OnceValue(func() map[compute.OpType]bool {
	all := map[compute.OpType]bool{compute.OpTypeWhere: true, compute.OpTypeConvertDType: true}
	for k := range unaryKernels {
		all[k.op] = true
	}
	for k := range binaryKernels {
		all[k.op] = true
	}
	return all
})

// operations returns the operations that the backend supports.
func operations() []compute.OpType {
	all := slices.Collect(maps.Keys(elementwise()))
	for op := range stepMakers {
		all = append(all, op)
	}
	return append(all, compute.OpTypeParameter, compute.OpTypeConstant, compute.OpTypeIota, compute.OpTypeOptimizationBarrier)
}

// perElement records an elementwise operation of one operand.
func (f *function) perElement(op compute.OpType, x compute.Value) (compute.Value, error) {
	return f.unary(op, x, nil, func(s shapes.Shape) (shapes.Shape, error) {
		out, err := s, error(nil)
		if shapeinference.StandardUnaryOperations.Has(op) {
			out, err = shapeinference.UnaryOp(op, s)
		}
		if err == nil && unaryKernels[kernelKey{op, s.DType}] == nil {
			err = missing(op)
		}
		if op == compute.OpTypeIsFinite || op == compute.OpTypeIsNaN {
			out = out.Clone()
			out.DType = dtypes.Bool
		}
		return out, err
	})
}

// pair records an elementwise operation of two operands.
func (f *function) pair(op compute.OpType, a, b compute.Value) (compute.Value, error) {
	in, err := f.operands(op, []compute.Value{a, b})
	if err != nil {
		return nil, err
	}
	infer := shapeinference.BinaryOp
	if shapeinference.ComparisonOperations.Has(op) {
		infer = shapeinference.ComparisonOp
	}
	shape, err := infer(op, in[0].shape, in[1].shape)
	if err == nil && binaryKernels[kernelKey{op, in[0].shape.DType}] == nil {
		err = missing(op)
	}
	return f.result(op, shape, err, nil, in...)
}

// ConvertDType implements compute.Function.
func (f *function) ConvertDType(x compute.Value, to dtypes.DType) (compute.Value, error) {
	return f.unary(compute.OpTypeConvertDType, x, nil, func(s shapes.Shape) (shapes.Shape, error) {
		if conversions[[2]dtypes.DType{s.DType, to}] == nil {
			return s, missing(compute.OpTypeConvertDType)
		}
		out := s.Clone()
		out.DType = to
		return out, nil
	})
}

// Where implements compute.Function.
func (f *function) Where(condition, onTrue, onFalse compute.Value) (compute.Value, error) {
	in, err := f.operands(compute.OpTypeWhere, []compute.Value{condition, onTrue, onFalse})
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.Where(in[0].shape, in[1].shape, in[2].shape)
	return f.result(compute.OpTypeWhere, shape, err, nil, in...)
}

// Clamp implements compute.Function.
func (f *function) Clamp(low, x, high compute.Value) (compute.Value, error) {
	v, err := f.Max(low, x)
	if err != nil {
		return nil, err
	}
	return f.Min(v, high)
}
