package engine

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
)

// Multiplier computes products a b^T of plain float32 arrays on an engine. It
// compiles once per shape and may be used by several goroutines.
type Multiplier struct {
	engine *Engine
	exec   *Exec
}

// NewMultiplier returns a multiplier on the engine.
func (e *Engine) NewMultiplier() (*Multiplier, error) {
	exec, err := NewExec(e.backend, func(a, b *Node) *Node {
		return Dot(a, b).General([]int{1}, nil, []int{1}, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("engine: compiling a matrix product: %w", err)
	}
	exec.SetMaxCache(-1)
	return &Multiplier{engine: e, exec: exec}, nil
}

// MulT sets dst, m x n in row-major order, to a b^T for a of m x p and b of n x p.
func (m *Multiplier) MulT(dst []float32, a, b array.Matrix[float32]) error {
	if a.Cols != b.Cols || len(dst) != a.Rows*b.Rows {
		return fmt.Errorf("engine: product of %d x %d and (%d x %d)^T does not fill %d values", a.Rows, a.Cols, b.Rows, b.Cols, len(dst))
	}
	for _, m := range []array.Matrix[float32]{a, b} {
		if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
			return fmt.Errorf("engine: product: %d values do not fill a factor of %d x %d", len(m.Data), m.Rows, m.Cols)
		}
	}
	if len(dst) == 0 || a.Cols == 0 {
		clear(dst)
		return nil
	}
	ta := tensors.FromFlatDataAndDimensions(a.Data, a.Rows, a.Cols)
	tb := tensors.FromFlatDataAndDimensions(b.Data, b.Rows, b.Cols)
	defer ta.FinalizeAll()
	defer tb.FinalizeAll()
	out, err := m.exec.Call(ta, tb)
	if err != nil {
		return fmt.Errorf("engine: matrix product: %w", err)
	}
	defer out[0].FinalizeAll()
	return tensors.ConstFlatData(out[0], func(flat []float32) { copy(dst, flat) })
}
