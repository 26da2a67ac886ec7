package array

import (
	"math"
	"reflect"
	"strings"
	"testing"
)

// sparse is the matrix
//
//	1 0 2
//	0 0 0
//	0 3 0
//	4 5 6
func sparse() Sparse[float32] {
	return Sparse[float32]{Rows: 4, Cols: 3, Starts: []int{0, 2, 2, 3, 6}, Columns: []int32{0, 2, 1, 0, 1, 2}, Values: []float32{1, 2, 3, 4, 5, 6}}
}

func TestASparseMatrixEqualsItsDenseForm(t *testing.T) {
	s := sparse()
	if err := s.Check("counts"); err != nil {
		t.Fatal(err)
	}
	d := s.Dense()
	if want := []float32{1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 5, 6}; !reflect.DeepEqual(d.Data, want) {
		t.Fatalf("dense: %v", d.Data)
	}
	for i := range s.Rows {
		for j := range s.Cols {
			if s.At(i, j) != d.Row(i)[j] {
				t.Errorf("element (%d, %d): %v", i, j, s.At(i, j))
			}
		}
	}
	for k, want := range []int{0, 0, 2, 3, 3, 3} {
		if got := s.RowOf(k); got != want {
			t.Errorf("element %d is in row %d, not %d", k, got, want)
		}
	}
	if rows := []int{3, 1, 0, 3}; !reflect.DeepEqual(s.Gather(rows).Dense(), d.Gather(rows)) {
		t.Errorf("gathered: %v", s.Gather(rows).Dense())
	}
	if !reflect.DeepEqual(s.Transpose().Dense(), d.Transpose()) {
		t.Errorf("transposed: %v", s.Transpose().Dense())
	}
	if got := s.Select([]int{0, 2}).Dense(); !reflect.DeepEqual(got.Data, []float32{1, 2, 0, 0, 0, 0, 4, 6}) {
		t.Errorf("selected: %v", got)
	}
	for name, made := range map[string]Sparse[float32]{"gathered": s.Gather([]int{3, 0}), "transposed": s.Transpose(), "selected": s.Select([]int{1})} {
		if err := made.Check(name); err != nil {
			t.Error(err)
		}
	}
}

func TestAnInvalidSparseMatrixIsRefused(t *testing.T) {
	for want, bend := range map[string]func(*Sparse[float32]){
		"not make a sparse matrix of 4 x 3":           func(s *Sparse[float32]) { s.Starts = s.Starts[:4] },
		"rows start at 1":                             func(s *Sparse[float32]) { s.Starts[0] = 1 },
		"row 1 goes from 2 to 1":                      func(s *Sparse[float32]) { s.Starts[2] = 1 },
		"row 0 has column 2 after 2":                  func(s *Sparse[float32]) { s.Columns[0] = 2 },
		"row 3 has column 3 after 1":                  func(s *Sparse[float32]) { s.Columns[5] = 3 },
		"counts: row 2, column 1 is NaN":              func(s *Sparse[float32]) { s.Values[2] = float32(math.NaN()) },
		"row 0 goes from 0 to 9":                      func(s *Sparse[float32]) { s.Starts[1] = 9 },
		"6 columns and 5 values do not make a sparse": func(s *Sparse[float32]) { s.Values = s.Values[:5] },
	} {
		s := sparse()
		bend(&s)
		if err := s.Check("counts"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
