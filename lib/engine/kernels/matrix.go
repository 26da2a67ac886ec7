package kernels

import "fmt"

// Float is the element type of matrices.
type Float interface{ float32 | float64 }

// Matrix is a view of a slice: element (i, j) is
//
//	Data[i*RowStride + j*ColStride]
//
// A stride of 0 is a broadcast.
type Matrix[T Float] struct {
	Data                 []T
	Rows, Cols           int
	RowStride, ColStride int
}

// RowMajor returns the matrix whose rows are consecutive in data.
func RowMajor[T Float](data []T, rows, cols int) Matrix[T] {
	return Matrix[T]{data, rows, cols, cols, 1}
}

// T returns the transposed view.
func (m Matrix[T]) T() Matrix[T] { return Matrix[T]{m.Data, m.Cols, m.Rows, m.ColStride, m.RowStride} }

// At returns element (i, j).
func (m Matrix[T]) At(i, j int) T { return m.Data[i*m.RowStride+j*m.ColStride] }

// Check returns an error for a negative size or stride, or an element outside Data.
func (m Matrix[T]) Check() error {
	switch {
	case m.Rows < 0 || m.Cols < 0:
		return fmt.Errorf("%d x %d is not the size of a matrix", m.Rows, m.Cols)
	case m.RowStride < 0 || m.ColStride < 0:
		return fmt.Errorf("strides %d and %d are not both 0 or positive", m.RowStride, m.ColStride)
	case m.Rows == 0 || m.Cols == 0:
		return nil
	}
	// Compared by division, because the product may not fit an int.
	last := len(m.Data) - 1
	if last >= 0 && (m.RowStride == 0 || m.Rows-1 <= last/m.RowStride) {
		last -= (m.Rows - 1) * m.RowStride
		if m.ColStride == 0 || m.Cols-1 <= last/m.ColStride {
			return nil
		}
	}
	return fmt.Errorf("%d x %d elements with strides %d and %d do not fit a slice of %d", m.Rows, m.Cols, m.RowStride, m.ColStride, len(m.Data))
}

// part returns the view of rows i ... i2-1 and columns j ... j2-1.
func (m Matrix[T]) part(i, i2, j, j2 int) Matrix[T] {
	p := Matrix[T]{nil, i2 - i, j2 - j, m.RowStride, m.ColStride}
	if p.Rows > 0 && p.Cols > 0 {
		p.Data = m.Data[i*m.RowStride+j*m.ColStride:]
	}
	return p
}

// Transpose writes m row by row to dst, with rows width elements apart. It is fast if the
// columns of m are contiguous (RowStride 1). It returns an error if m is not a valid view or
// does not fit dst.
func Transpose[T Float](dst []T, width int, m Matrix[T]) error {
	return transposeAt(best, dst, width, m)
}

func transposeAt[T Float](l Level, dst []T, width int, m Matrix[T]) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("transposition: %w", err)
	}
	if m.Rows == 0 || m.Cols == 0 {
		return nil
	}
	if width < m.Cols || len(dst) < (m.Rows-1)*width+m.Cols {
		return fmt.Errorf("transposition: %d x %d elements with rows %d apart do not fit a slice of %d", m.Rows, m.Cols, width, len(dst))
	}
	if m.RowStride != 1 {
		packStrided(dst, m, width, 0, 0)
		return nil
	}
	tileAt[T](l).packColumns(dst, m, width)
	return nil
}
