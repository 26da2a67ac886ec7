package cells

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// ranked draws cells x genes whose components fall from strong to weak, and more
// zeros than not.
func ranked(rng *rand.Rand, cells, genes, strong int) array.Sparse[float32] {
	m := array.New[float32](cells, genes)
	for i := range cells {
		row := m.Row(i)
		for j := range row {
			if rng.Float64() < 0.1 {
				row[j] = float32(rng.Float64())
			}
		}
		for k := range strong {
			w := float32(rng.ExpFloat64()) * float32(3*(strong-k))
			for j := k; j < genes; j += 2 * strong {
				row[j] += w
			}
		}
	}
	return sparseOf(m)
}

// apart is the largest difference of two matrices.
func apart(t *testing.T, a, b array.Matrix[float64]) float64 {
	t.Helper()
	if a.Rows != b.Rows || a.Cols != b.Cols {
		t.Fatalf("%d x %d and %d x %d", a.Rows, a.Cols, b.Rows, b.Cols)
	}
	worst := 0.0
	for k, v := range a.Data {
		worst = max(worst, math.Abs(v-b.Data[k]))
	}
	return worst
}

func TestComponentsOfAllMethodsAndShapesAgree(t *testing.T) {
	for _, shape := range [][2]int{{60, 40}, {40, 60}, {300, 30}} {
		x := ranked(rand.New(rand.NewPCG(1, 2)), shape[0], shape[1], 4)
		want, err := PCA{Components: 4, Method: Exact}.Sparse(x)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range map[string]PCA{
			"lanczos": {Components: 4}, "another start": {Components: 4, Seed: 9}, "randomised": {Components: 4, Method: Randomised, Powers: 20},
		} {
			for kind, f := range map[string]func() (*Components, error){
				"sparse": func() (*Components, error) { return p.Sparse(x) },
				"dense":  func() (*Components, error) { return p.Dense(x.Dense()) },
			} {
				got, err := f()
				if err != nil {
					t.Fatal(err)
				}
				if off := max(apart(t, got.Scores, want.Scores), apart(t, got.Loadings, want.Loadings)); off > 1e-6 {
					t.Errorf("%v, %s, %s: %v from the singular value decomposition", shape, name, kind, off)
				}
			}
		}
	}
}

func TestComponentsAreOrthogonalAndTheirVariancesAddUp(t *testing.T) {
	x := ranked(rand.New(rand.NewPCG(3, 4)), 50, 12, 3)
	c, err := PCA{Components: 12}.Sparse(x)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for k, v := range c.Variance {
		sum += v
		if k > 0 && v > c.Variance[k-1]*(1+1e-9) {
			t.Errorf("component %d has more variance than the one before", k)
		}
		for l := range k + 1 {
			want := 0.0
			if k == l {
				want = 1
			}
			if got := dot(c.Loadings.Row(k), c.Loadings.Row(l)); math.Abs(got-want) > 1e-9 {
				t.Errorf("loadings %d and %d: product %v", k, l, got)
			}
		}
	}
	if math.Abs(sum-c.Total) > 1e-9*c.Total {
		t.Errorf("all components have variance %v, all genes %v", sum, c.Total)
	}
	for k := range c.Scores.Cols {
		mean := 0.0
		for i := range c.Scores.Rows {
			mean += c.Scores.Row(i)[k]
		}
		if math.Abs(mean) > 1e-9 {
			t.Errorf("scores of component %d have sum %v", k, mean)
		}
	}
}

func TestTheLargestLoadingIsPositive(t *testing.T) {
	x := ranked(rand.New(rand.NewPCG(5, 6)), 50, 30, 3)
	c, err := PCA{Components: 8}.Sparse(x)
	if err != nil {
		t.Fatal(err)
	}
	for k := range c.Loadings.Rows {
		high, low := math.Inf(-1), math.Inf(1)
		for _, v := range c.Loadings.Row(k) {
			high, low = max(high, v), min(low, v)
		}
		if -low > high {
			t.Errorf("component %d: loadings from %v to %v", k, low, high)
		}
	}
}

func TestComponentsDoNotDependOnTheOrderOfCellsOrGenes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	x := ranked(rng, 60, 40, 4)
	want, err := PCA{Components: 4}.Sparse(x)
	if err != nil {
		t.Fatal(err)
	}
	order := rng.Perm(60)
	got, err := PCA{Components: 4}.Sparse(x.Gather(order))
	if err != nil {
		t.Fatal(err)
	}
	if off := apart(t, got.Scores, want.Scores.Gather(order)); off > 1e-7 {
		t.Errorf("cells in another order: scores differ by %v", off)
	}
	order = rng.Perm(40)
	if got, err = (PCA{Components: 4}).Sparse(sparseOf(permuted(x.Dense(), order))); err != nil {
		t.Fatal(err)
	}
	if off := apart(t, got.Scores, want.Scores); off > 1e-7 {
		t.Errorf("genes in another order: scores differ by %v", off)
	}
}

func TestComponentsThatRepeatAreFound(t *testing.T) {
	// A block of ones on the diagonal: every singular value alike, and rank 3.
	m := array.New[float32](9, 7)
	for i := range 9 {
		m.Row(i)[i%3] = 1
	}
	c, err := PCA{Components: 2}.Sparse(sparseOf(m))
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(c.Variance[0]-3.0/8) > 1e-12 || math.Abs(c.Variance[1]-3.0/8) > 1e-12 {
		t.Errorf("variances %v, want 3/8 twice", c.Variance)
	}
}

func TestPCARefusesWhatItCannotFind(t *testing.T) {
	x := ranked(rand.New(rand.NewPCG(9, 9)), 20, 10, 2)
	crooked := x
	crooked.Values = append([]float32{float32(math.Inf(1))}, x.Values[1:]...)
	same := x.Gather(make([]int, 8))
	rank2 := x.Gather([]int{0, 1, 2, 0, 1, 2, 0, 1})
	for want, f := range map[string]func() (*Components, error){
		"50 components of 20 cells x 10 genes: there are at most 10": func() (*Components, error) { return PCA{}.Sparse(x) },
		"8 components of 8 cells":                                    func() (*Components, error) { return PCA{Components: 8}.Sparse(same) },
		"unknown method":                                             func() (*Components, error) { return PCA{Components: 2, Method: "guess"}.Sparse(x) },
		"is +Inf":                                                    func() (*Components, error) { return PCA{Components: 2}.Sparse(crooked) },
		"only 0 components vary, 2 were requested":                   func() (*Components, error) { return PCA{Components: 2}.Sparse(same) },
		"only 0 components vary, 3 were requested":                   func() (*Components, error) { return PCA{Components: 3, Method: Randomised}.Sparse(same) },
		"only 2 components vary, 3 were requested":                   func() (*Components, error) { return PCA{Components: 3}.Sparse(rank2) },
		"only 2 components vary, 4 were requested":                   func() (*Components, error) { return PCA{Components: 4, Method: Exact}.Sparse(rank2) },
		"-1 powers":            func() (*Components, error) { return PCA{Components: 3, Powers: -1}.Sparse(x) },
		"0 values do not fill": func() (*Components, error) { return PCA{}.Dense(array.Matrix[float32]{Rows: 3, Cols: 2}) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
