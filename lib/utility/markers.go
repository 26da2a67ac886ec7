package utility

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// Markers are the genes by which "Fishing for Privacy" asks whether a decoder still
// knows the types of blood cells: T cells, B cells, monocytes, killer cells.
func Markers() []string {
	return []string{"CD3D", "CD3E", "MS4A1", "CD79A", "CD14", "LYZ", "NKG7", "GNLY"}
}

// MarkerCorrelation is, of every column named, Pearson's correlation over cells of
// what the decoder says, library size times proportion, with the expression:
// higher is better, null 0. The paper's *marker r* is the mean over Markers.
//
// The published program leaves the library size out: give ones for that. A gene
// that no cell expresses, or of which the decoder says the same of every cell, is
// stats.ErrConstant: it has no correlation.
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
		said, is := make([]float64, x.Rows), make([]float64, x.Rows)
		for i := range x.Rows {
			said[i], is[i] = library[i]*float64(proportion.Row(i)[j]), float64(x.Row(i)[j])
		}
		r, err := stats.Pearson(said, is)
		if err != nil {
			return nil, fmt.Errorf("utility: column %d: %w", j, err)
		}
		out = append(out, r)
	}
	return out, nil
}
