// View operations, and those that copy their operand into another layout.

package backend

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
	"github.com/gomlx/compute/shapes"
)

// unary records an operation of one operand; infer returns the shape of the result.
func (f *function) unary(op compute.OpType, x compute.Value, attr any, infer func(s shapes.Shape) (shapes.Shape, error)) (compute.Value, error) {
	in, err := f.operands(op, []compute.Value{x})
	if err != nil {
		return nil, err
	}
	shape, err := infer(in[0].shape)
	return f.result(op, shape, err, attr, in...)
}

// Identity implements compute.Function.
func (f *function) Identity(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeIdentity, x, nil, same)
}

func same(s shapes.Shape) (shapes.Shape, error) { return s, nil }

// OptimizationBarrier implements compute.Function.
func (f *function) OptimizationBarrier(x ...compute.Value) ([]compute.Value, error) {
	out := make([]compute.Value, len(x))
	for i, v := range x {
		n, err := f.Identity(v)
		if err != nil {
			return nil, err
		}
		out[i] = n
	}
	return out, nil
}

// Reshape implements compute.Function.
func (f *function) Reshape(x compute.Value, dims ...int) (compute.Value, error) {
	return f.unary(compute.OpTypeReshape, x, nil, func(s shapes.Shape) (shapes.Shape, error) { return shapeinference.Reshape(s, dims) })
}

// Transpose implements compute.Function.
func (f *function) Transpose(x compute.Value, permutation ...int) (compute.Value, error) {
	return f.unary(compute.OpTypeTranspose, x, slices.Clone(permutation), func(s shapes.Shape) (shapes.Shape, error) {
		return shapeinference.Transpose(s, permutation)
	})
}

// BroadcastInDim implements compute.Function.
func (f *function) BroadcastInDim(x compute.Value, shape shapes.Shape, axes []int) (compute.Value, error) {
	return f.unary(compute.OpTypeBroadcastInDim, x, slices.Clone(axes), func(s shapes.Shape) (shapes.Shape, error) {
		if shape.IsDynamic() {
			return s, missing(compute.OpTypeBroadcastInDim)
		}
		return shape, shapeinference.BroadcastInDim(s, shape, axes, nil)
	})
}

// slice is the attribute of Slice.
type slice struct{ starts, strides []int }

// Slice implements compute.Function.
func (f *function) Slice(x compute.Value, starts, limits, strides []int) (compute.Value, error) {
	if len(strides) == 0 {
		strides = slices.Repeat([]int{1}, len(starts))
	}
	return f.unary(compute.OpTypeSlice, x, slice{slices.Clone(starts), slices.Clone(strides)}, func(s shapes.Shape) (shapes.Shape, error) {
		return shapeinference.Slice(s, starts, limits, strides)
	})
}

// Reverse implements compute.Function.
func (f *function) Reverse(x compute.Value, axes ...int) (compute.Value, error) {
	return f.unary(compute.OpTypeReverse, x, slices.Clone(axes), func(s shapes.Shape) (shapes.Shape, error) {
		for _, a := range axes {
			if a < 0 || a >= s.Rank() {
				return s, fmt.Errorf("axis %d of %s", a, s)
			}
		}
		return s, nil
	})
}

// Concatenate implements compute.Function; its attribute is the axis.
func (f *function) Concatenate(axis int, operands ...compute.Value) (compute.Value, error) {
	in, err := f.operands(compute.OpTypeConcatenate, operands)
	if err != nil {
		return nil, err
	}
	of := make([]shapes.Shape, len(in))
	for i, n := range in {
		of[i] = n.shape
	}
	shape, err := shapeinference.Concatenate(of, axis)
	return f.result(compute.OpTypeConcatenate, shape, err, axis, in...)
}

// Pad implements compute.Function; its attribute is the padding of the axes.
func (f *function) Pad(x, fill compute.Value, axes ...compute.PadAxis) (compute.Value, error) {
	in, err := f.operands(compute.OpTypePad, []compute.Value{x, fill})
	if err != nil {
		return nil, err
	}
	if in[1].shape.DType != in[0].shape.DType || in[1].size() != 1 {
		return nil, fmt.Errorf("backend %s: Pad of %s with %s", Name, in[0].shape, in[1].shape)
	}
	shape, err := shapeinference.Pad(in[0].shape, axes...)
	return f.result(compute.OpTypePad, shape, err, slices.Clone(axes), in...)
}

// Iota implements compute.Function: a constant.
func (f *function) Iota(shape shapes.Shape, axis int) (compute.Value, error) {
	if axis < 0 || axis >= shape.Rank() || shape.IsDynamic() {
		return nil, fmt.Errorf("backend %s: Iota along axis %d of %s", Name, axis, shape)
	}
	along := shapes.Make(dtypes.Int64, shape.Dimensions[axis])
	counts := make([]int64, along.Size())
	for i := range counts {
		counts[i] = int64(i)
	}
	v, err := f.Constant(counts, len(counts))
	if err == nil {
		v, err = f.ConvertDType(v, shape.DType)
	}
	if err != nil {
		return nil, err
	}
	return f.BroadcastInDim(v, shape, []int{axis})
}
