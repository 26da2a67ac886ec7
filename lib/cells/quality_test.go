package cells

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// Three cells and five genes, two of them mitochondrial.
func few() (array.Sparse[float32], []string) {
	m := array.Matrix[float32]{Rows: 3, Cols: 5, Data: []float32{
		4, 0, 1, 5, 0,
		0, 2, 0, 0, 0,
		1, 1, 1, 1, 6,
	}}
	return sparseOf(m), []string{"A", "B", "MT-ND1", "C", "mt-Co1"}
}

func TestQualityCountsGenesAndTheMitochondrialShare(t *testing.T) {
	counts, genes := few()
	q, err := Measure(counts, genes)
	if err != nil {
		t.Fatal(err)
	}
	want := Quality{Genes: []int{3, 1, 5}, Counts: []float64{10, 2, 10}, Mito: []float64{0.1, 0, 0.7}, MitoGenes: 2}
	if !reflect.DeepEqual(*q, want) {
		t.Errorf("%+v, want %+v", *q, want)
	}
	// "MTOR" and "Mt1" are no mitochondrial genes, and a stored zero detects nothing.
	counts.Values[0] = 0
	if q, err = Measure(counts, []string{"A", "B", "MTOR", "C", "Mt1"}); err != nil || q.Mito[2] != 0 || q.Genes[0] != 2 {
		t.Errorf("%+v, %v", q, err)
	}
}

func TestFilterBoundsAreTheSpecs(t *testing.T) {
	q := &Quality{Genes: []int{199, 200, 300, 300}, Mito: []float64{0, 0, 0.1, 0.0999}}
	if kept, err := (Filter{}).Cells(q); err != nil || !slices.Equal(kept, []int{1, 3}) {
		t.Errorf("kept %v, %v: at least 200 genes, strictly below 10 %%", kept, err)
	}
	counts, _ := few()
	for k, want := range map[int][]int{0: {0, 1, 2, 3, 4}, 2: {0, 1, 2, 3}, 1: {0, 1, 2, 3, 4}} {
		if kept, err := (Filter{MinCells: k}).Genes(counts); err != nil || !slices.Equal(kept, want) {
			t.Errorf("in at least %d cells: %v, %v", k, kept, err)
		}
	}
}

func TestNormalisingIsItsDenseTwinAndSumsToTheTarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	dense := someCounts(rng, 40, 25)
	x := sparseOf(dense)
	before := slices.Clone(x.Values)
	y, err := Normalise(x, 0)
	if err != nil {
		t.Fatal(err)
	}
	z, err := Log1p(y)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(x.Values, before) {
		t.Error("the counts were written to")
	}
	for i := range dense.Rows {
		sum, got := 0.0, z.Dense()
		for _, v := range dense.Row(i) {
			sum += float64(v)
		}
		for j, v := range dense.Row(i) {
			if want := math.Log(1 + float64(v)/sum*1e4); math.Abs(float64(got.Row(i)[j])-want) > 1e-5 {
				t.Fatalf("cell %d, gene %d: %v, want %v", i, j, got.Row(i)[j], want)
			}
		}
	}
	if y, err = Normalise(x, 1); err != nil {
		t.Fatal(err)
	}
	_, values := y.Row(7)
	sum := 0.0
	for _, v := range values {
		sum += float64(v)
	}
	if math.Abs(sum-1) > 1e-6 {
		t.Errorf("a cell sums to %v, not to the target", sum)
	}
}

func TestCountsThatAreNoneAreRefused(t *testing.T) {
	for want, bend := range map[string]func(*array.Sparse[float32]){
		"cells.Measure: row 1, column 1 is NaN":                                  func(x *array.Sparse[float32]) { x.Values[3] = float32(math.NaN()) },
		"cells.Measure: row 1, column 1 is -2: want":                             func(x *array.Sparse[float32]) { x.Values[3] = -2 },
		"cells.Measure: rows start at 1":                                         func(x *array.Sparse[float32]) { x.Starts[0] = 1 },
		"cells.Measure: 0 cells x 5 genes":                                       func(x *array.Sparse[float32]) { *x = array.Sparse[float32]{Cols: 5, Starts: []int{0}} },
		"cells.Measure: 4 starts, 9 columns and 9 values do not make a sparse m": func(x *array.Sparse[float32]) { x.Rows = 2 },
	} {
		counts, genes := few()
		bend(&counts)
		if _, err := Measure(counts, genes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	counts, genes := few()
	if _, err := Measure(counts, genes[1:]); err == nil || !strings.Contains(err.Error(), "4 gene names for 5 columns") {
		t.Error(err)
	}
	counts.Values[3] = 0
	if _, err := Normalise(counts, 0); err == nil || !strings.Contains(err.Error(), "cell 1 has no count") {
		t.Error(err)
	}
	if _, err := Normalise(counts, -1); err == nil || !strings.Contains(err.Error(), "target is -1") {
		t.Error(err)
	}
	q, _ := Measure(counts, genes)
	if _, err := (Filter{}).Cells(q); err == nil || !strings.Contains(err.Error(), "none of 3 cells has 200 genes") {
		t.Error(err)
	}
	if _, err := (Filter{MinGenes: -1}).Cells(q); err == nil || !strings.Contains(err.Error(), "min genes -1") {
		t.Error(err)
	}
	if _, err := (Filter{MinCells: 4}).Genes(counts); err == nil || !strings.Contains(err.Error(), "none of 5 genes has a count in 4 cells") {
		t.Error(err)
	}
}
