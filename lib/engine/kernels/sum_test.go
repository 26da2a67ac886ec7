package kernels

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// laneSum is Sum as its documentation has it.
func laneSum(a []float32) float64 {
	sum := 0.0
	for block := range slices.Chunk(a, 1<<16) {
		var lane [16]float64
		for i, x := range block {
			lane[i%16] += float64(x)
		}
		l := func(i int) float64 { return lane[i] + lane[i+8] }
		sum += ((l(0) + l(4)) + (l(2) + l(6))) + ((l(1) + l(5)) + (l(3) + l(7)))
	}
	return sum
}

func TestSumsAreOfOneOrder(t *testing.T) {
	g := rand.New(rand.NewPCG(15, 16))
	for _, n := range append(lengths(), 1<<16, 1<<16+5, 200_001) {
		f := newFenced[float32](n)
		for i := range f.data {
			f.data[i] = float32(math.Ldexp(g.NormFloat64(), g.IntN(60)-30))
		}
		want := laneSum(f.data)
		for _, l := range levels() {
			if got := sumAt(l, f.data); got != want {
				t.Fatalf("%v: the sum of %d is %v, not %v", l, n, got, want)
			}
		}
	}
	if Sum([]float32{1, 2, 4}) != 7 || Sum(nil) != 0 {
		t.Error("Sum does not sum")
	}
}

func TestRowsAreAddedOneAfterTheOther(t *testing.T) {
	g := rand.New(rand.NewPCG(19, 20))
	for _, n := range lengths() {
		for _, rows := range []int{0, 1, 2, 7} {
			stride := n + g.IntN(3)
			f := newFenced[float32](max(0, (rows-1)*stride+n))
			for i := range f.data {
				f.data[i] = float32(math.Ldexp(g.NormFloat64(), g.IntN(60)-30))
			}
			start, want := make([]float64, n), make([]float64, n)
			for j := range start {
				start[j] = g.NormFloat64()
				want[j] = start[j]
				for i := range rows {
					want[j] += float64(f.data[i*stride+j])
				}
			}
			for _, l := range levels() {
				got := slices.Clone(start)
				if addRowsAt(l, got, f.data, stride, rows); !slices.Equal(got, want) {
					t.Fatalf("%v: %d rows of %d, %d apart: %v, not %v", l, rows, n, stride, got, want)
				}
			}
		}
	}
}

func TestSumsOfRowsAndColumns(t *testing.T) {
	g := rand.New(rand.NewPCG(17, 18))
	for _, s := range [][2]int{{1, 1}, {3, 40}, {40, 3}, {0, 5}, {5, 0}, {100, 33}, {700, 130}, {17, 16}} {
		for kind := range 7 {
			m, _ := view[float32](g, s[0], s[1], kind)
			rows, cols := make([]float64, m.Rows), make([]float64, m.Cols)
			for i := range rows {
				row := make([]float32, m.Cols)
				for j := range row {
					row[j] = m.At(i, j)
					cols[j] += float64(row[j])
				}
				rows[i] = laneSum(row)
			}
			for _, l := range levels() {
				for _, workers := range []int{1, 2, 3, 8} {
					gotRows, gotCols := make([]float64, m.Rows), make([]float64, m.Cols)
					if err := sumRowsAt(l, Pool{workers}, gotRows, m); err != nil {
						t.Fatal(err)
					}
					if err := sumColsAt(l, Pool{workers}, gotCols, m); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(gotRows, rows) || !slices.Equal(gotCols, cols) {
						t.Fatalf("%v, %d workers: sums of %d x %d, view %d", l, workers, s[0], s[1], kind)
					}
				}
			}
		}
	}
	m := RowMajor(make([]float32, 6), 2, 3)
	if err := SumRows(Pool{}, make([]float64, 3), m); err == nil || !strings.Contains(err.Error(), "sums of rows: the result has 3 elements, not 2") {
		t.Errorf("room for other sums: %v", err)
	}
	m.Rows = 3
	if err := SumCols(Pool{}, make([]float64, 3), m); err == nil || !strings.Contains(err.Error(), "sums of columns: 3 x 3 elements with strides 3 and 1 do not fit a slice of 6") {
		t.Errorf("a view outside of its data: %v", err)
	}
}

func TestSumsPassNaNAndInfinityOn(t *testing.T) {
	a := make([]float32, 100)
	a[3] = float32(math.Inf(1))
	for _, l := range levels() {
		if got := sumAt(l, a); !math.IsInf(got, 1) {
			t.Errorf("%v: a sum with infinity is %v", l, got)
		}
		b := slices.Clone(a)
		b[97] = float32(math.Inf(-1))
		if got := sumAt(l, b); got == got {
			t.Errorf("%v: a sum with both infinities is %v", l, got)
		}
	}
}
