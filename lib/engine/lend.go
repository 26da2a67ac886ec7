package engine

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/tensors"
)

// lender is a backend that reads numbers where they lie.
type lender interface {
	Lend(flat []float32, dims ...int) (compute.Buffer, error)
}

// Lend puts numbers on the engine's device without a copy, where it can. Nobody may
// write to them before the tensor is finalized.
func (e *Engine) Lend(flat []float32, dims ...int) (*tensors.Tensor, error) {
	if own, ok := e.backend.(lender); ok {
		b, err := own.Lend(flat, dims...)
		if err != nil {
			return nil, err
		}
		return tensors.FromBuffer(b)
	}
	t := tensors.FromFlatDataAndDimensions(flat, dims...)
	return t, t.MaterializeOnDevice(e.backend, true, 0)
}
