package utility

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func matrix(cols int, v ...float32) array.Matrix[float32] {
	return array.Matrix[float32]{Rows: len(v) / cols, Cols: cols, Data: v}
}

// By hand: 10 p - x is (3, -1) and (0, 2); without library size it is small.
func TestSquaredErrorsByHand(t *testing.T) {
	p, x := matrix(2, 0.5, 0.5, 0.25, 0.75), matrix(2, 2, 6, 2.5, 5.5)
	got, err := SquaredErrors(p, x, []float64{10, 10})
	if err != nil || got[0] != 10 || got[1] != 4 {
		t.Errorf("%v, %v", got, err)
	}
	if got, _ = SquaredErrors(p, x, []float64{0, 0}); got[0] != 40 || got[1] != 2.5*2.5+5.5*5.5 {
		t.Errorf("with nothing said: %v", got)
	}
	if l := LibrarySizes(x); l[0] != 8 || l[1] != 8 {
		t.Errorf("library sizes %v", l)
	}
}

// KL(N(1, 4) || N(0, 1)) = (1 + 4 - ln 4 - 1)/2, and 0 of the prior itself.
func TestDivergencesByHand(t *testing.T) {
	got, err := Divergences(matrix(2, 0, 0, 1, 0), matrix(2, 0, 0, float32(math.Log(4)), 0))
	if err != nil || got[0] != 0 || math.Abs(got[1]-(4-math.Log(4))/2) > 1e-6 {
		t.Errorf("%v, %v", got, err)
	}
}

// The correlation uses the named columns, cell by cell, and at the library size.
func TestMarkerCorrelation(t *testing.T) {
	x := matrix(2, 1, 3, 2, 2, 3, 1)
	p := matrix(2, 0.1, 0.1, 0.2, 0.2, 0.3, 0.3)
	got, err := MarkerCorrelation(p, x, []float64{1, 1, 1}, []int{0, 1})
	if err != nil || math.Abs(got[0]-1) > 1e-6 || math.Abs(got[1]+1) > 1e-6 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err = MarkerCorrelation(p, x, []float64{9, 3, 1}, []int{0}); err != nil || got[0] > -0.9 {
		t.Errorf("the library size is not looked at: %v, %v", got, err)
	}
}

func TestBadArraysAreRefused(t *testing.T) {
	nan := float32(math.NaN())
	for want, err := range map[string]error{
		"1 x 2 against 2 x 1":                    second(SquaredErrors(matrix(2, 1, 1), matrix(1, 1, 1), nil)),
		"1 library sizes for 2 cells":            second(SquaredErrors(matrix(1, 1, 1), matrix(1, 1, 1), []float64{1})),
		"the library size of cell 1 is +Inf":     second(SquaredErrors(matrix(1, 1, 1), matrix(1, 1, 1), []float64{1, math.Inf(1)})),
		"row 0, column 1 is NaN":                 second(Divergences(matrix(2, 1, nan), matrix(2, 1, 1))),
		"0 x 0 against 0 x 0":                    second(Divergences(array.Matrix[float32]{}, array.Matrix[float32]{})),
		"there is no column 2 in 1":              second(MarkerCorrelation(matrix(1, 1, 1), matrix(1, 1, 1), []float64{1, 1}, []int{2})),
		"column 0":                               second(MarkerCorrelation(matrix(1, 1, 1), matrix(1, 1, 2), []float64{1, 1}, []int{0})),
		"3 library sizes for 2 cells":            second(MarkerCorrelation(matrix(1, 1, 1), matrix(1, 1, 2), []float64{1, 1, 1}, nil)),
		"proportions and expression: row 1, col": second(SquaredErrors(matrix(1, 1, nan), matrix(1, 1, 1), []float64{1, 1})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
