package ruler

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// minNorm keeps rows of zeros from being divided by zero.
const minNorm = 1e-12

func norm(row []float64) float64 { return math.Sqrt(kernels.Dot(row, row)) }

// unit writes row / max(norm, 1e-12) into dst, which may be row.
func unit(dst, row []float64) {
	n := max(norm(row), minNorm)
	for j, v := range row {
		dst[j] = v / n
	}
}

// units returns the given rows of m at unit length.
func units(m array.Rows, rows []int) array.Matrix[float64] {
	_, cols := m.Shape()
	out := array.New[float64](len(rows), cols)
	for k, i := range rows {
		unit(out.Row(k), m.Read(out.Row(k), i))
	}
	return out
}

// clip bounds a cosine to [-1, 1], which rounding can exceed by an ulp.
func clip(s float64) float64 { return min(max(s, -1), 1) }

// parallel is the rounding error, on either side, of the cosine of a vector with itself.
const parallel = 0x1p-49

// snapToOne makes the cosine of a record with itself exactly 1. A model compared with itself then
// has an M2 of 0 without spread; otherwise a test would take rounding errors for an effect. (M4 as
// coded depends on the last bits, and is left alone.)
func snapToOne(s float64) float64 {
	if 1-s <= parallel {
		return 1
	}
	return max(s, -1)
}

// pairedCosines returns, for every given row, the cosine of its two embeddings: equation (1) for
// one record under two models.
func pairedCosines(a, b array.Rows, rows []int) []float64 {
	_, cols := a.Shape()
	x, y := make([]float64, cols), make([]float64, cols)
	out := make([]float64, len(rows))
	for k, i := range rows {
		unit(x, a.Read(x, i))
		unit(y, b.Read(y, i))
		out[k] = snapToOne(kernels.Dot(x, y))
	}
	return out
}

// mean is a plain sum in a fixed order divided by the count.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
