package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
)

// zeroCopyBackend is a backend that reads host memory without a copy and gives access to its
// own memory.
type zeroCopyBackend interface {
	Wrap(flat []float32, dims ...int) (compute.Buffer, error)
	Alloc(dims ...int) (compute.Buffer, []float32, error)
}

// Wrap returns a tensor of the numbers in flat, without a copy if the backend allows it. flat
// must not be written to before the tensor is finalized.
func (e *Engine) Wrap(flat []float32, dims ...int) (*tensors.Tensor, error) {
	b, err := e.wrapBuffer(flat, dims...)
	if err != nil {
		return nil, err
	}
	return tensors.FromBuffer(b)
}

func (e *Engine) wrapBuffer(flat []float32, dims ...int) (compute.Buffer, error) {
	if own, ok := e.backend.(zeroCopyBackend); ok {
		return own.Wrap(flat, dims...)
	}
	return e.backend.BufferFromFlatData(0, flat, shapes.Make(dtypes.Float32, dims...))
}

// Zeros returns a tensor of zeros for inputs of an execution, in the backend's memory if it
// allows it, so that a write to the tensor needs no copy.
func (e *Engine) Zeros(dims ...int) (*tensors.Tensor, error) {
	return tensors.FromShapeForBackend(e.backend, 0, shapes.Make(dtypes.Float32, dims...))
}

// FromFunc returns a tensor whose elements fill writes. fill must write all of flat, which
// has arbitrary values.
func (e *Engine) FromFunc(fill func(flat []float32), dims ...int) (*tensors.Tensor, error) {
	if own, ok := e.backend.(zeroCopyBackend); ok {
		b, flat, err := own.Alloc(dims...)
		if err != nil {
			return nil, err
		}
		fill(flat)
		return tensors.FromBuffer(b)
	}
	t, err := e.Zeros(dims...)
	if err != nil {
		return nil, err
	}
	return t, tensors.MutableFlatData(t, fill)
}
