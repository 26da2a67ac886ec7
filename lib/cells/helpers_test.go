package cells

import (
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/array"
)

// sparseOf is the sparse twin of a dense matrix.
func sparseOf(m array.Matrix[float32]) array.Sparse[float32] {
	out := array.Sparse[float32]{Rows: m.Rows, Cols: m.Cols, Starts: []int{0}}
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			if v != 0 {
				out.Columns, out.Values = append(out.Columns, int32(j)), append(out.Values, v)
			}
		}
		out.Starts = append(out.Starts, len(out.Columns))
	}
	return out
}

// someCounts draws counts whose mean grows from gene to gene; every cell has one.
func someCounts(rng *rand.Rand, cells, genes int) array.Matrix[float32] {
	m := array.New[float32](cells, genes)
	for i := range cells {
		row := m.Row(i)
		for j := range row {
			for range 1 + j%7 {
				if rng.Float64() < 0.2 {
					row[j] += float32(1 + rng.IntN(3))
				}
			}
		}
		row[i%genes]++
	}
	return m
}

// permuted returns the columns of m in another order: column k is order[k].
func permuted(m array.Matrix[float32], order []int) array.Matrix[float32] {
	return m.Transpose().Gather(order).Transpose()
}
