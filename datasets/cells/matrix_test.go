package cells

import (
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// crooked is 2 x 3 with a stored zero, the columns of the first row out of order.
func crooked() array.Sparse[float32] {
	return array.Sparse[float32]{Rows: 2, Cols: 3, Starts: []int{0, 3, 4}, Columns: []int32{2, 0, 1, 2}, Values: []float32{5, 4, 0, 6}}
}

func TestElementsOfOnePlaceAreAddedUpAndZerosTakenOut(t *testing.T) {
	if columnsSorted(crooked()) {
		t.Error("5 stands before 4")
	}
	s := mergeDuplicates(crooked().Transpose().Transpose())
	if err := s.Check("merged"); err != nil || len(s.Values) != 3 || s.At(0, 0) != 4 || s.At(0, 2) != 5 || s.At(1, 2) != 6 {
		t.Errorf("%+v, %v", s, err)
	}
	// scipy.sparse.csr_matrix(...).sum_duplicates() and then eliminate_zeros() (1.17.1).
	s = mergeDuplicates(array.Sparse[float32]{Rows: 3, Cols: 3, Starts: []int{0, 4, 4, 7}, Columns: []int32{0, 2, 2, 2, 1, 1, 2}, Values: []float32{1, 2, 3, 4, 5, -5, 6}})
	want := array.Sparse[float32]{Rows: 3, Cols: 3, Starts: []int{0, 2, 2, 3}, Columns: []int32{0, 2, 2}, Values: []float32{1, 9, 6}}
	if !reflect.DeepEqual(s, want) {
		t.Errorf("%+v", s)
	}
}

func TestMatricesThatCannotBeWalkedThroughAreRefused(t *testing.T) {
	for want, bend := range map[string]func(*array.Sparse[float32]){
		"of 4, 4 and 2 are not a matrix of 2 x 3": func(s *array.Sparse[float32]) { s.Starts = s.Starts[:2] },
		"of 3, 4 and 3 are not a matrix":          func(s *array.Sparse[float32]) { s.Values = s.Values[:3] },
		"of 4, 3 and 3 are not a matrix":          func(s *array.Sparse[float32]) { s.Columns = s.Columns[:3] },
		"of 4, 4 and 3 are not a matrix":          func(s *array.Sparse[float32]) { s.Starts[2] = 3 },
		"indptr does not ascend":                  func(s *array.Sparse[float32]) { s.Starts[1] = 9 },
		"indices: element 2 is 3 of 3":            func(s *array.Sparse[float32]) { s.Columns[2] = 3 },
		"indices: element 0 is -1 of 3":           func(s *array.Sparse[float32]) { s.Columns[0] = -1 },
	} {
		s := crooked()
		if bend(&s); checkIndices(s) == nil || !strings.Contains(checkIndices(s).Error(), want) {
			t.Errorf("got %v, want %q", checkIndices(s), want)
		}
	}
	if err := checkIndices(crooked()); err != nil {
		t.Error(err)
	}
}
