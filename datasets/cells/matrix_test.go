package cells

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// crooked is 2 x 3 with a stored zero, the columns of the first row out of order.
func crooked() array.Sparse[float32] {
	return array.Sparse[float32]{Rows: 2, Cols: 3, Starts: []int{0, 3, 4}, Columns: []int32{2, 0, 1, 2}, Values: []float32{5, 4, 0, 6}}
}

func TestZerosAreTakenOutAndColumnsMoveWithTheirValues(t *testing.T) {
	s := withoutZeros(crooked())
	if ascending(s) || len(s.Values) != 3 || s.Starts[1] != 2 {
		t.Errorf("%+v", s)
	}
	d := s.Transpose().Transpose()
	if err := d.Check("sorted"); err != nil || d.At(0, 0) != 4 || d.At(0, 2) != 5 || d.At(1, 2) != 6 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestMatricesThatCannotBeWalkedThroughAreRefused(t *testing.T) {
	for want, bend := range map[string]func(*array.Sparse[float32]){
		"of 4, 4 and 2 are no matrix of 2 x 3": func(s *array.Sparse[float32]) { s.Starts = s.Starts[:2] },
		"of 3, 4 and 3 are no matrix":          func(s *array.Sparse[float32]) { s.Values = s.Values[:3] },
		"of 4, 3 and 3 are no matrix":          func(s *array.Sparse[float32]) { s.Columns = s.Columns[:3] },
		"of 4, 4 and 3 are no matrix":          func(s *array.Sparse[float32]) { s.Starts[2] = 3 },
		"indptr does not ascend":               func(s *array.Sparse[float32]) { s.Starts[1] = 9 },
		"indices: element 2 is 3 of 3":         func(s *array.Sparse[float32]) { s.Columns[2] = 3 },
		"indices: element 0 is -1 of 3":        func(s *array.Sparse[float32]) { s.Columns[0] = -1 },
	} {
		s := crooked()
		if bend(&s); inside(s) == nil || !strings.Contains(inside(s).Error(), want) {
			t.Errorf("got %v, want %q", inside(s), want)
		}
	}
	if err := inside(crooked()); err != nil {
		t.Error(err)
	}
}
