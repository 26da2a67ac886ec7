package ruler

import (
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// minNorm keeps a row without a direction from being divided by zero.
const minNorm = 1e-12

// lanes is the number of interleaved sums of an inner product.
const lanes = 8

// dotPlain is the inner product, added up in eight interleaved sums that are
// then added in pairs. The order is part of the definition: it is the same for
// dot(a, b) and dot(b, a) and for eight lanes of a vector register, and the
// conversions forbid a fused multiply-add, so that the last bit is the same on
// every platform and in both builds.
func dotPlain(a, b []float64) float64 {
	b = b[:len(a)]
	var s [lanes]float64
	j := 0
	for ; j+lanes <= len(a); j += lanes {
		x, y := a[j:j+lanes:j+lanes], b[j:j+lanes:j+lanes]
		s[0] += float64(x[0] * y[0])
		s[1] += float64(x[1] * y[1])
		s[2] += float64(x[2] * y[2])
		s[3] += float64(x[3] * y[3])
		s[4] += float64(x[4] * y[4])
		s[5] += float64(x[5] * y[5])
		s[6] += float64(x[6] * y[6])
		s[7] += float64(x[7] * y[7])
	}
	return addLanes(&s, a[j:], b[j:])
}

// addLanes adds the products that are left over and then the eight sums.
func addLanes(s *[lanes]float64, a, b []float64) float64 {
	for k, v := range a {
		s[k] += float64(v * b[k])
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

func norm(row []float64) float64 { return math.Sqrt(dot(row, row)) }

// unit writes row / max(norm, 1e-12) into dst, which may be row.
func unit(dst, row []float64) {
	n := max(norm(row), minNorm)
	for j, v := range row {
		dst[j] = v / n
	}
}

// units returns the named rows of m at unit length.
func units(m array.Rows, rows []int) array.Matrix[float64] {
	_, cols := m.Shape()
	out := array.New[float64](len(rows), cols)
	for k, i := range rows {
		unit(out.Row(k), m.Read(out.Row(k), i))
	}
	return out
}

// clip holds a cosine inside [-1, 1], which rounding can leave by an ulp.
func clip(s float64) float64 { return min(max(s, -1), 1) }

// paired returns, for every named row, the cosine between its two embeddings:
// equation (1) for one record under two models.
func paired(a, b array.Rows, rows []int) []float64 {
	_, cols := a.Shape()
	x, y := make([]float64, cols), make([]float64, cols)
	out := make([]float64, len(rows))
	for k, i := range rows {
		unit(x, a.Read(x, i))
		unit(y, b.Read(y, i))
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
