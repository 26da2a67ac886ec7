package cells

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// spread draws counts of which some rare genes (0, 7, 14 ...) vary more than others of
// their mean.
func spread(rng *rand.Rand, cells, genes, more int) array.Matrix[float32] {
	m := someCounts(rng, cells, genes)
	for i := range cells / 4 {
		for j := range more {
			m.Row(i)[7*j] *= 5
		}
	}
	return m
}

func TestStandardisedVarianceIsTheDenseFormula(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	dense := spread(rng, 60, 80, 5)
	dense.Row(0)[20] = 400 // far above the limit
	d, err := Variable{}.Measure(sparseOf(dense))
	if err != nil {
		t.Fatal(err)
	}
	n := float64(dense.Rows)
	for j := range dense.Cols {
		var mean, v float64
		for i := range dense.Rows {
			mean += float64(dense.Row(i)[j]) / n
		}
		for i := range dense.Rows {
			v += math.Pow(float64(dense.Row(i)[j])-mean, 2) / (n - 1)
		}
		s, z := math.Sqrt(d.Expected[j]), 0.0
		for i := range dense.Rows {
			z += math.Pow(min((float64(dense.Row(i)[j])-mean)/s, math.Sqrt(n)), 2) / (n - 1)
		}
		if math.Abs(d.Mean[j]-mean) > 1e-9 || math.Abs(d.Variance[j]-v) > 1e-8*v || math.Abs(d.Standardised[j]-z) > 1e-9*(1+z) {
			t.Errorf("gene %d: mean %v %v, variance %v %v, standardised %v %v", j, d.Mean[j], mean, d.Variance[j], v, d.Standardised[j], z)
		}
	}
}

func TestVariableGenesDoNotDependOnTheOrderOfCellsOrGenes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	dense := spread(rng, 100, 400, 5)
	top := Variable{Top: 5}
	want, _, err := top.Select(sparseOf(dense))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want, []int{0, 7, 14, 21, 28}) {
		t.Errorf("planted genes 0, 7 ... 28, chosen %v", want)
	}
	got, _, err := top.Select(sparseOf(dense.Gather(rng.Perm(100))))
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("cells in another order: %v, %v", got, err)
	}
	order := rng.Perm(400)
	got, _, err = top.Select(sparseOf(permuted(dense, order)))
	if err != nil {
		t.Fatal(err)
	}
	for k, j := range got {
		got[k] = order[j]
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("genes in another order: %v, want %v", got, want)
	}
}

func TestAGeneThatDoesNotVaryIsNotVariable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	dense := someCounts(rng, 30, 40)
	for i := range dense.Rows {
		dense.Row(i)[3], dense.Row(i)[4] = 0, 0.1
	}
	d, err := Variable{}.Measure(sparseOf(dense))
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range []int{3, 4} {
		if d.Variance[j] != 0 || d.Expected[j] != 0 || d.Standardised[j] != 0 {
			t.Errorf("gene %d: %v %v %v", j, d.Variance[j], d.Expected[j], d.Standardised[j])
		}
	}
}

func TestVariableRefusesWhatItCannotMeasure(t *testing.T) {
	x := sparseOf(someCounts(rand.New(rand.NewPCG(9, 1)), 30, 40))
	for want, f := range map[string]func() ([]int, *Dispersion, error){
		"2000 of 40 genes":         func() ([]int, *Dispersion, error) { return Variable{}.Select(x) },
		"-1 of 40 genes":           func() ([]int, *Dispersion, error) { return Variable{Top: -1}.Select(x) },
		"1 cell has no variance":   func() ([]int, *Dispersion, error) { return Variable{Top: 4}.Select(x.Gather([]int{0})) },
		"none of 40 genes varies":  func() ([]int, *Dispersion, error) { return Variable{Top: 4}.Select(x.Gather([]int{0, 0})) },
		"span is 2":                func() ([]int, *Dispersion, error) { return Variable{Top: 4, Span: 2}.Select(x) },
		"of 6 genes: stats.Loess:": func() ([]int, *Dispersion, error) { return Variable{Top: 4}.Select(x.Select([]int{0, 1, 2, 3, 4, 5})) },
	} {
		if _, _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestScaledGenesHaveMeanZeroAndDeviationOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	dense := someCounts(rng, 200, 10)
	for i := range dense.Rows {
		dense.Row(i)[9] = 0
	}
	z, err := Scale(sparseOf(dense), 0)
	if err != nil {
		t.Fatal(err)
	}
	for j := range 10 {
		var sum, squares float64
		for i := range z.Rows {
			v := float64(z.Row(i)[j])
			sum, squares = sum+v, squares+v*v
		}
		want := float64(z.Rows - 1)
		if j == 9 {
			want = 0
		}
		if math.Abs(sum) > 1e-3 || math.Abs(squares-want) > 1e-3 {
			t.Errorf("gene %d: sum %v, squares %v", j, sum, squares)
		}
	}
	cut, err := Scale(sparseOf(dense), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range cut.Data {
		if want := max(-0.5, min(0.5, z.Data[k])); math.Abs(float64(v-want)) > 1e-6 {
			t.Fatalf("%v is cut to %v", z.Data[k], v)
		}
	}
	if _, err := Scale(sparseOf(dense).Gather([]int{1}), 0); err == nil || !strings.Contains(err.Error(), "1 cells") {
		t.Error(err)
	}
}
