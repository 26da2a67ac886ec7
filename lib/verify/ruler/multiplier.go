package ruler

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// Multiplier forms float32 matrix products, the part of M4 that takes the time.
type Multiplier interface {
	// MulT writes a times the transpose of b into dst: a is m x p, b is n x p,
	// and dst[i*n+j] becomes the inner product of row i of a and row j of b.
	// It is called from several goroutines at once.
	//
	// Products and sums must each be rounded to float32 at most once, in any
	// order and with or without fused multiply-add: the search for the nearest
	// neighbour relies on the error bound that follows. Half precision and
	// TF32 do not qualify, and M4 reports a product that breaks the bound.
	MulT(dst []float32, a, b array.Matrix[float32]) error
}

// gonumMultiplier is the multiplier that needs no engine: gonum's SIMD inner
// products in cache-sized blocks.
type gonumMultiplier struct{}

var _ Multiplier = gonumMultiplier{}

func (gonumMultiplier) MulT(dst []float32, a, b array.Matrix[float32]) error {
	if len(dst) != a.Rows*b.Rows || a.Cols != b.Cols {
		return fmt.Errorf("product of %d x %d and %d x %d does not fill %d values", a.Rows, a.Cols, b.Rows, b.Cols, len(dst))
	}
	gonum.Implementation{}.Sgemm(blas.NoTrans, blas.Trans, a.Rows, b.Rows, a.Cols,
		1, a.Data, a.Cols, b.Data, b.Cols, 0, dst, b.Rows)
	return nil
}
