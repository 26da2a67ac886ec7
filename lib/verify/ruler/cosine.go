package ruler

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// minNorm keeps a row without a direction from being divided by zero.
const minNorm = 1e-12

// dot adds the products in four interleaved sums. The order is part of the
// definition: it is the same for dot(a, b) and dot(b, a), and the conversions
// forbid a fused multiply-add, so the last bit is the same on every platform.
func dot(a, b []float64) float64 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float64
	j := 0
	for ; j+4 <= len(a); j += 4 {
		s0 += float64(a[j] * b[j])
		s1 += float64(a[j+1] * b[j+1])
		s2 += float64(a[j+2] * b[j+2])
		s3 += float64(a[j+3] * b[j+3])
	}
	for ; j < len(a); j++ {
		s0 += float64(a[j] * b[j])
	}
	return (s0 + s1) + (s2 + s3)
}

func norm(row []float64) float64 { return math.Sqrt(dot(row, row)) }

// unit writes row / max(norm, 1e-12) into dst.
func unit(dst, row []float64) {
	n := max(norm(row), minNorm)
	for j, v := range row {
		dst[j] = v / n
	}
}

// units returns the named rows of m at unit length.
func units(m *array.Matrix[float64], rows []int) array.Matrix[float64] {
	out := array.New[float64](len(rows), m.Cols)
	for k, i := range rows {
		unit(out.Row(k), m.Row(i))
	}
	return out
}

// clip holds a cosine inside [-1, 1], which rounding can leave by an ulp.
func clip(s float64) float64 { return min(max(s, -1), 1) }

// paired returns, for every named row, the cosine between its two embeddings:
// equation (1) for one record under two models.
func paired(a, b *array.Matrix[float64], rows []int) []float64 {
	x, y := make([]float64, a.Cols), make([]float64, a.Cols)
	out := make([]float64, len(rows))
	for k, i := range rows {
		unit(x, a.Row(i))
		unit(y, b.Row(i))
		out[k] = clip(dot(x, y))
	}
	return out
}

// mean is a plain sum over a fixed order divided by the count.
func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}
