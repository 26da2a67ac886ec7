package kernels

import "fmt"

// Float is what matrices are made of.
type Float interface{ float32 | float64 }

// Matrix is a view of numbers that lie elsewhere: element (i, j) is
//
//	Data[i*RowStride + j*ColStride]
//
// A stride of 0 is a broadcast. The transposed matrix has rows and columns exchanged,
// and their strides.
type Matrix[T Float] struct {
	Data                 []T
	Rows, Cols           int
	RowStride, ColStride int
}

// RowMajor is the matrix whose rows lie one after the other in data.
func RowMajor[T Float](data []T, rows, cols int) Matrix[T] {
	return Matrix[T]{data, rows, cols, cols, 1}
}

// T is the transposed view.
func (m Matrix[T]) T() Matrix[T] { return Matrix[T]{m.Data, m.Cols, m.Rows, m.ColStride, m.RowStride} }

// At is element (i, j).
func (m Matrix[T]) At(i, j int) T { return m.Data[i*m.RowStride+j*m.ColStride] }

// Check tells what is wrong with the view: a negative size or stride, or an element
// outside of Data.
func (m Matrix[T]) Check() error {
	switch {
	case m.Rows < 0 || m.Cols < 0:
		return fmt.Errorf("%d x %d is no size of a matrix", m.Rows, m.Cols)
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
	return fmt.Errorf("%d x %d elements with strides %d and %d do not fit into %d numbers", m.Rows, m.Cols, m.RowStride, m.ColStride, len(m.Data))
}

// part is the view of rows i to i2 and columns j to j2.
func (m Matrix[T]) part(i, i2, j, j2 int) Matrix[T] {
	p := Matrix[T]{nil, i2 - i, j2 - j, m.RowStride, m.ColStride}
	if p.Rows > 0 && p.Cols > 0 {
		p.Data = m.Data[i*m.RowStride+j*m.ColStride:]
	}
	return p
}

// Transpose writes m row by row into dst, width numbers apart; it is fast where the columns
// of m lie in one piece each (RowStride 1). The error says what does not fit.
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
		return fmt.Errorf("transposition: %d x %d numbers, %d apart, into %d", m.Rows, m.Cols, width, len(dst))
	}
	if m.RowStride != 1 {
		packStrided(dst, m, width, 0, 0)
		return nil
	}
	tileAt[T](l).packColumns(dst, m, width)
	return nil
}
