// Package utility measures the remaining utility of a model. It takes plain arrays, so it works on
// any model, and returns one value per record. The caller chooses the records: utility is measured
// on records without training.
package utility

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/array"
)

// Version is the version of the numbers of this package; see attack.Version.
const Version = 2

// checkSameShape refuses arrays of different shapes and elements that are not finite.
func checkSameShape(what string, a, b array.Matrix[float32]) error {
	if a.Rows != b.Rows || a.Cols != b.Cols || a.Rows == 0 {
		return fmt.Errorf("utility: %s: %d x %d against %d x %d values", what, a.Rows, a.Cols, b.Rows, b.Cols)
	}
	if err := a.Check(what); err != nil {
		return fmt.Errorf("utility: %w", err)
	}
	if err := b.Check(what); err != nil {
		return fmt.Errorf("utility: %w", err)
	}
	return nil
}
