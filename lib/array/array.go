// Package array has the row-major matrix that all packages use for data, embeddings, losses
// and scores, and a sparse matrix.
package array

import (
	"fmt"
	"math"
	"slices"
)

// Float is the element type of a Matrix.
type Float interface{ ~float32 | ~float64 }

// Matrix is a dense row-major matrix: element (i, j) is Data[i*Cols+j].
type Matrix[T Float] struct {
	Rows, Cols int
	Data       []T
}

// New returns a zero matrix of the given shape.
func New[T Float](rows, cols int) Matrix[T] {
	return Matrix[T]{Rows: rows, Cols: cols, Data: make([]T, rows*cols)}
}

// Row returns row i without copying it.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// Gather returns a new matrix of the given rows, in their order.
func (m Matrix[T]) Gather(rows []int) Matrix[T] {
	out := New[T](len(rows), m.Cols)
	for k, i := range rows {
		copy(out.Row(k), m.Row(i))
	}
	return out
}

// FirstColumns returns a copy of the first n columns. It panics if there are fewer.
func (m Matrix[T]) FirstColumns(n int) Matrix[T] {
	out := New[T](m.Rows, n)
	for i := range m.Rows {
		copy(out.Row(i), m.Row(i)[:n])
	}
	return out
}

// Transpose returns a new matrix with rows and columns exchanged.
func (m Matrix[T]) Transpose() Matrix[T] {
	out := New[T](m.Cols, m.Rows)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			out.Data[j*m.Rows+i] = v
		}
	}
	return out
}

// Check returns an error if the data do not fit the shape, or for the first element that is
// not finite. name is the matrix's name in the error.
func (m Matrix[T]) Check(name string) error {
	if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
		return fmt.Errorf("%s: %d values do not fill %d x %d", name, len(m.Data), m.Rows, m.Cols)
	}
	// The sums are NaN if a value is not finite; four sums can run in parallel.
	var a, b, c, d T
	x := m.Data
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+x[0]*0, b+x[1]*0, c+x[2]*0, d+x[3]*0
	}
	for _, v := range x {
		a += v * 0
	}
	if a+b+c+d == 0 {
		return nil
	}
	for i, v := range m.Data {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("%s: row %d, column %d is %v", name, i/m.Cols, i%m.Cols, v)
		}
	}
	return nil
}

// Rows is a matrix of either element type that is read row by row as float64. Large float32
// embeddings need no float64 copy. A Matrix is Rows.
type Rows interface {
	// Shape returns the numbers of rows and columns.
	Shape() (rows, cols int)
	// Read returns row i. The result may be buffer, which must have room for a row, or
	// the matrix's memory: do not write to it. It is valid until the buffer is used
	// again.
	Read(buffer []float64, i int) []float64
	// Check returns an error if the data do not fit the shape or are not finite.
	Check(name string) error
}

// Same reports whether two matrices have the same shape and numbers.
func Same(a, b Rows) bool {
	rows, cols := a.Shape()
	if r, c := b.Shape(); r != rows || c != cols {
		return false
	}
	x, y := make([]float64, cols), make([]float64, cols)
	for i := range rows {
		if !slices.Equal(a.Read(x, i), b.Read(y, i)) {
			return false
		}
	}
	return true
}

// Magnitude returns the largest absolute value of the finite numbers among some.
func Magnitude(list []float32) (largest float64) {
	for _, v := range list {
		if f := math.Abs(float64(v)); !math.IsInf(f, 0) {
			largest = max(largest, f)
		}
	}
	return largest
}

// SameUpTo reports whether the numbers of a row are those of another up to rounding: relative to the row's largest one
// and, to a small extent, to largest, that of its table. Two NaNs are the same.
func SameUpTo(rounding float64, a, b []float32, largest float64) bool {
	allowed := rounding * (Magnitude(a) + largest/100)
	for i, v := range a {
		x, y := float64(v), float64(b[i])
		if x != y && !(math.Abs(x-y) <= allowed) && !(math.IsNaN(x) && math.IsNaN(y)) {
			return false
		}
	}
	return true
}

var (
	_ Rows = Matrix[float32]{}
	_ Rows = Matrix[float64]{}
)

// Shape implements Rows.
func (m Matrix[T]) Shape() (rows, cols int) { return m.Rows, m.Cols }

// Read implements Rows.
func (m Matrix[T]) Read(buffer []float64, i int) []float64 {
	row := m.Row(i)
	if same, ok := any(row).([]float64); ok {
		return same
	}
	buffer = buffer[:len(row)]
	for j, v := range row {
		buffer[j] = float64(v)
	}
	return buffer
}

// Convert returns the matrix with another element type.
func Convert[To, From Float](m Matrix[From]) Matrix[To] {
	out := New[To](m.Rows, m.Cols)
	for i, v := range m.Data {
		out.Data[i] = To(v)
	}
	return out
}
