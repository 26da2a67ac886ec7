// Package array holds the plain row-major matrix that every room of the house
// hands to the next: data, embeddings, losses and scores travel as arrays, so
// that evidence can be computed for a model that was never ours.
package array

import (
	"fmt"
	"math"
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

// Gather returns a new matrix made of the named rows, in the order given.
func (m Matrix[T]) Gather(rows []int) Matrix[T] {
	out := New[T](len(rows), m.Cols)
	for k, i := range rows {
		copy(out.Row(k), m.Row(i))
	}
	return out
}

// FirstColumns is a copy of the first n columns, of which there must be as many.
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

// Check reports a matrix whose data do not fit its shape, or the first element
// that is not finite; name is what the error calls the matrix.
func (m Matrix[T]) Check(name string) error {
	if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
		return fmt.Errorf("%s: %d values do not fill %d x %d", name, len(m.Data), m.Rows, m.Cols)
	}
	// NaN as soon as a value is not finite; four sums do not wait for each other.
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

// Rows is a matrix of either element type, for who reads it row by row and
// computes in float64: embeddings of millions of records are saved as float32
// and need not be held twice. A Matrix, and a pointer to one, is Rows.
type Rows interface {
	// Shape returns the numbers of rows and columns.
	Shape() (rows, cols int)
	// Read returns row i. It may fill buffer, which has room for a row, or be the
	// matrix's own memory, so it is not to be written to, and is valid until the
	// buffer is used again.
	Read(buffer []float64, i int) []float64
	// Check reports a matrix that does not fill its shape or is not finite.
	Check(name string) error
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
