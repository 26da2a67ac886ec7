package cells

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
)

// checkValues refuses a matrix without cells or genes, one of inconsistent shape, and one with
// elements that are negative or not finite.
func checkValues(fn string, x array.Sparse[float32]) error {
	if err := x.Check("cells." + fn); err != nil {
		return err
	}
	if x.Rows == 0 || x.Cols == 0 {
		return fmt.Errorf("cells.%s: %d cells x %d genes: nothing to prepare", fn, x.Rows, x.Cols)
	}
	for k, v := range x.Values {
		if v < 0 {
			i := x.RowOf(k)
			return fmt.Errorf("cells.%s: row %d, column %d is %v: want a finite count of at least 0", fn, i, x.Columns[k], v)
		}
	}
	return nil
}

// checkNames refuses gene names that do not fit the columns.
func checkNames(fn string, x array.Sparse[float32], genes []string) error {
	if len(genes) != x.Cols {
		return fmt.Errorf("cells.%s: %d gene names for %d columns", fn, len(genes), x.Cols)
	}
	return nil
}
