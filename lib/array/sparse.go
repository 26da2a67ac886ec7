package array

import (
	"fmt"
	"math"
	"slices"
)

// Sparse is a sparse matrix in compressed rows (CSR): row i has the elements
// Values[Starts[i]:Starts[i+1]] in the columns Columns[Starts[i]:Starts[i+1]], which
// ascend.
type Sparse[T Float] struct {
	Rows, Cols int
	Starts     []int
	Columns    []int32
	Values     []T
}

// Row returns the columns and values of row i without copying them.
func (s Sparse[T]) Row(i int) (columns []int32, values []T) {
	a, b := s.Starts[i], s.Starts[i+1]
	return s.Columns[a:b:b], s.Values[a:b:b]
}

// RowOf returns the row of the k-th element.
func (s Sparse[T]) RowOf(k int) int {
	i, found := slices.BinarySearch(s.Starts, k)
	for found && i+1 < len(s.Starts) && s.Starts[i+1] == k { // empty rows begin there too
		i++
	}
	if !found {
		i--
	}
	return i
}

// At returns element (i, j).
func (s Sparse[T]) At(i, j int) T {
	columns, values := s.Row(i)
	if k, found := slices.BinarySearch(columns, int32(j)); found {
		return values[k]
	}
	return 0
}

// Gather returns a new matrix of the given rows, in their order.
func (s Sparse[T]) Gather(rows []int) Sparse[T] {
	out := Sparse[T]{Rows: len(rows), Cols: s.Cols, Starts: make([]int, 1, len(rows)+1)}
	n := 0
	for _, i := range rows {
		n += s.Starts[i+1] - s.Starts[i]
	}
	out.Columns, out.Values = make([]int32, 0, n), make([]T, 0, n)
	for _, i := range rows {
		columns, values := s.Row(i)
		out.Columns, out.Values = append(out.Columns, columns...), append(out.Values, values...)
		out.Starts = append(out.Starts, len(out.Columns))
	}
	return out
}

// Select returns a new matrix of the given columns, which must ascend.
func (s Sparse[T]) Select(columns []int) Sparse[T] {
	at := make([]int32, s.Cols)
	for j := range at {
		at[j] = -1
	}
	for k, j := range columns {
		at[j] = int32(k)
	}
	out := Sparse[T]{Rows: s.Rows, Cols: len(columns), Starts: make([]int, 1, s.Rows+1)}
	for i := range s.Rows {
		js, values := s.Row(i)
		for k, j := range js {
			if at[j] >= 0 {
				out.Columns, out.Values = append(out.Columns, at[j]), append(out.Values, values[k])
			}
		}
		out.Starts = append(out.Starts, len(out.Columns))
	}
	return out
}

// Transpose returns a new matrix with rows and columns exchanged.
func (s Sparse[T]) Transpose() Sparse[T] {
	out := Sparse[T]{Rows: s.Cols, Cols: s.Rows, Starts: make([]int, s.Cols+1), Columns: make([]int32, len(s.Columns)), Values: make([]T, len(s.Values))}
	for _, j := range s.Columns {
		out.Starts[j+1]++
	}
	for j := range s.Cols {
		out.Starts[j+1] += out.Starts[j]
	}
	next := slices.Clone(out.Starts)
	for i := range s.Rows {
		columns, values := s.Row(i)
		for k, j := range columns {
			out.Columns[next[j]], out.Values[next[j]] = int32(i), values[k]
			next[j]++
		}
	}
	return out
}

// Dense returns the matrix in dense form.
func (s Sparse[T]) Dense() Matrix[T] {
	out := New[T](s.Rows, s.Cols)
	for i := range s.Rows {
		row := out.Row(i)
		columns, values := s.Row(i)
		for k, j := range columns {
			row[j] = values[k]
		}
	}
	return out
}

// Check returns an error if the fields are not a valid sparse matrix, or for the first
// element that is not finite. name is the matrix's name in the error.
func (s Sparse[T]) Check(name string) error {
	if s.Rows < 0 || s.Cols < 0 || s.Cols > math.MaxInt32 || len(s.Starts) != s.Rows+1 || len(s.Columns) != len(s.Values) {
		return fmt.Errorf("%s: %d starts, %d columns and %d values do not make a sparse matrix of %d x %d",
			name, len(s.Starts), len(s.Columns), len(s.Values), s.Rows, s.Cols)
	}
	if s.Starts[0] != 0 || s.Starts[s.Rows] != len(s.Columns) {
		return fmt.Errorf("%s: rows start at %d and end at %d; there are %d elements", name, s.Starts[0], s.Starts[s.Rows], len(s.Columns))
	}
	for i := range s.Rows {
		if s.Starts[i] > s.Starts[i+1] || s.Starts[i+1] > len(s.Columns) {
			return fmt.Errorf("%s: row %d goes from %d to %d", name, i, s.Starts[i], s.Starts[i+1])
		}
		last := int32(-1)
		columns, values := s.Row(i)
		for k, j := range columns {
			if j <= last || int(j) >= s.Cols {
				return fmt.Errorf("%s: row %d has column %d after %d; columns ascend and are below %d", name, i, j, last, s.Cols)
			}
			if f := float64(values[k]); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("%s: row %d, column %d is %v", name, i, j, f)
			}
			last = j
		}
	}
	return nil
}
