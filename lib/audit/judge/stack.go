// A matrix that is read from one file, or from several files whose rows follow each other.

package judge

import (
	"fmt"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/array/npy"
)

// stack is a matrix in one file, or in several files whose rows follow each other.
type stack struct {
	paths      []string
	rows, cols int
}

// Width implements audit.Matrix.
func (s *stack) Width() int { return s.cols }

// Read reads the matrix in the smallest type that holds it.
func (s *stack) Read() (array.Rows, error) {
	if len(s.paths) == 1 {
		x, err := npy.ReadRows(s.paths[0])
		if err == nil {
			err = s.checkShape(x)
		}
		return x, err
	}
	out := array.New[float64](s.rows, s.cols)
	buffer, at := make([]float64, s.cols), 0
	for _, path := range s.paths {
		x, err := npy.ReadRows(path)
		if err != nil {
			return nil, err
		}
		rows, cols := x.Shape()
		if cols != s.cols || at+rows > s.rows {
			return nil, s.checkShape(x)
		}
		for i := range rows {
			copy(out.Row(at+i), x.Read(buffer, i))
		}
		at += rows
	}
	return out, s.checkShape(out)
}

// checkShape refuses a file that has changed since it was checked.
func (s *stack) checkShape(x array.Rows) error {
	if rows, cols := x.Shape(); rows != s.rows || cols != s.cols {
		return fmt.Errorf("%s has changed during the audit: %d x %d, it was %d x %d", filepath.Base(s.paths[0]), rows, cols, s.rows, s.cols)
	}
	return nil
}
