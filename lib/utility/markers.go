package utility

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Markers returns the marker genes with which "Fishing for Privacy" tests whether a decoder
// distinguishes blood cells: T cells, B cells, monocytes, killer cells.
func Markers() []string {
	return []string{"CD3D", "CD3E", "MS4A1", "CD79A", "CD14", "LYZ", "NKG7", "GNLY"}
}

// MarkerCorrelation returns, for every given column, Pearson's correlation over cells of the
// decoder's output (library size times proportion) with the expression. Higher is better, null 0.
// The paper's *marker r* is the mean over Markers.
//
// The published program leaves the library size out: pass ones for that. A gene that no cell
// expresses, or for which the decoder's output is constant, is stats.ErrConstant: it has no
// correlation.
func MarkerCorrelation(proportion, x array.Matrix[float32], library []float64, columns []int) ([]float64, error) {
	if err := checkSameShape("proportions and expression", proportion, x); err != nil {
		return nil, err
	}
	if len(library) != x.Rows {
		return nil, fmt.Errorf("utility: %d library sizes for %d cells", len(library), x.Rows)
	}
	var out []float64
	for _, j := range columns {
		if j < 0 || j >= x.Cols {
			return nil, fmt.Errorf("utility: there is no column %d in %d", j, x.Cols)
		}
		decoded, observed := make([]float64, x.Rows), make([]float64, x.Rows)
		for i := range x.Rows {
			decoded[i], observed[i] = library[i]*float64(proportion.Row(i)[j]), float64(x.Row(i)[j])
		}
		r, err := stats.Pearson(decoded, observed)
		if err != nil {
			return nil, fmt.Errorf("utility: column %d: %w", j, err)
		}
		out = append(out, r)
	}
	return out, nil
}
