package cells

// Scaling of genes.

import (
	"cmp"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
)

// Scale brings every gene to mean 0 and standard deviation 1 (divisor N-1) and clips at -limit
// and limit (0: 10). A gene that does not vary becomes 0. The result is dense, so choose genes
// first.
//
// The paper's program scales Tabula Muris and trains on the result. Difference from scanpy
// before 1.10, which clips only above: both sides.
func Scale(x array.Sparse[float32], limit float64) (array.Matrix[float32], error) {
	limit = cmp.Or(limit, 10)
	if err := checkValues("Scale", x); err != nil {
		return array.Matrix[float32]{}, err
	}
	if x.Rows < 2 || !(limit > 0) {
		return array.Matrix[float32]{}, fmt.Errorf("cells.Scale: %d cells, cut at %v: want two cells and a limit above 0", x.Rows, limit)
	}
	mean, variance := moments(x)
	out := x.Dense()
	for i := range out.Rows {
		row := out.Row(i)
		for j, v := range row {
			z := 0.0
			if variance[j] > 0 {
				z = (float64(v) - mean[j]) / math.Sqrt(variance[j])
			}
			row[j] = float32(max(-limit, min(limit, z)))
		}
	}
	return out, nil
}
