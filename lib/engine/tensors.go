package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
)

// zeroCopyBackend is a backend that reads numbers where they lie, and lets others write to memory
// of its own.
type zeroCopyBackend interface {
	Wrap(flat []float32, dims ...int) (compute.Buffer, error)
	Alloc(dims ...int) (compute.Buffer, []float32, error)
}

// Wrap puts numbers on the engine's device without a copy, where it can. Nobody may
// write to them before the tensor is finalized.
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

// Zeros is a tensor to be written to and handed to the engine, in memory that the engine
// reads itself, where it can: what a step is fed with needs neither a copy nor memory
// that nobody has used before.
func (e *Engine) Zeros(dims ...int) (*tensors.Tensor, error) {
	return tensors.FromShapeForBackend(e.backend, 0, shapes.Make(dtypes.Float32, dims...))
}

// FromFunc is a tensor that fill writes, all of it: what it is given holds anything.
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
