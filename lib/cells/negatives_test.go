package cells

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func TestMatchedCellsAreTheUnionOfNeighbours(t *testing.T) {
	forget := array.Matrix[float64]{Rows: 2, Cols: 1, Data: []float64{0, 10}}
	unseen := array.Matrix[float64]{Rows: 6, Cols: 1, Data: []float64{11, 100, 1, 5, -2, 9}}
	m, err := Match(forget, unseen, 3)
	if err != nil {
		t.Fatal(err)
	}
	// Of 0: rows 2, 4, 3. Of 10: rows 0, 5, 3.
	if !slices.Equal(m.Rows, []int{0, 2, 3, 4, 5}) || !slices.Equal(m.Distance, []float64{1, 2, 5, 1, 1, 5}) {
		t.Errorf("%+v", *m)
	}
	// 11, 1, 5 (as far from either), -2 and 9.
	if want := []int{1, 0, 0, 0, 1}; !slices.Equal(m.Nearest, want) {
		t.Errorf("beside %v, want %v", m.Nearest, want)
	}
	// Exchanged roles are another question.
	if back, err := Match(unseen, forget, 1); err != nil || slices.Equal(back.Rows, m.Rows) {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestDrawnCodesHaveThePosteriorsMomentsAndMatchAtRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const cells, columns = 400, 32
	mean, logvar := array.New[float64](cells, columns), array.New[float64](cells, columns)
	for k := range mean.Data {
		mean.Data[k], logvar.Data[k] = 3, math.Log(0.25)
	}
	z, err := SampleCodes(mean, logvar, rng)
	if err != nil {
		t.Fatal(err)
	}
	var sum, squares float64
	for _, v := range z.Data {
		sum, squares = sum+v, squares+(v-3)*(v-3)
	}
	n := float64(cells * columns)
	if math.Abs(sum/n-3) > 0.02 || math.Abs(squares/n-0.25) > 0.02 {
		t.Errorf("mean %v, variance %v, want 3 and 0.25", sum/n, squares/n)
	}
	// Cells that are told apart by their means: the means match each with its like,
	// wide draws with anybody.
	for i := range cells {
		for j := range columns {
			mean.Row(i)[j] = 0.05 * float64(i%20)
			logvar.Row(i)[j] = math.Log(0.59)
		}
	}
	like := func(codes array.Matrix[float64]) float64 {
		some := array.Matrix[float64]{Rows: 10, Cols: columns, Data: codes.Data[:10*columns]}
		rest := array.Matrix[float64]{Rows: cells - 20, Cols: columns, Data: codes.Data[20*columns:]}
		m, err := Nearest(some, rest, 10)
		if err != nil {
			t.Fatal(err)
		}
		same := 0
		for i := range 10 {
			index, _ := m.Row(i)
			for _, j := range index {
				if j%20 == i {
					same++
				}
			}
		}
		return float64(same) / 100
	}
	drawn, err := SampleCodes(mean, logvar, rng)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := like(mean), like(drawn); a != 1 || b > 0.3 {
		t.Errorf("matched with its like: %v of the means, %v of the draws", a, b)
	}
}

func TestHalvesPartAClusterEvenly(t *testing.T) {
	cluster := []int{3, 5, 8, 13, 21, 34, 55}
	often := map[int]int{}
	for seed := range uint64(400) {
		in, out, err := Halves(cluster, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		both := slices.Concat(in, out)
		slices.Sort(both)
		if len(in) != 3 || !slices.Equal(both, cluster) || !slices.IsSorted(in) || !slices.IsSorted(out) {
			t.Fatalf("%v and %v", in, out)
		}
		for _, i := range in {
			often[i]++
		}
	}
	for _, i := range cluster {
		if math.Abs(float64(often[i])-400*3.0/7) > 40 { // four standard errors
			t.Errorf("cell %d is in %d of 400 times", i, often[i])
		}
	}
}

func TestNegativesThatAreNoneAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := array.New[float64](2, 3), array.New[float64](2, 2)
	bad := array.New[float64](2, 3)
	bad.Data[4] = math.Inf(1)
	for want, f := range map[string]func() error{
		"no forgotten cell":           func() error { _, err := Match(array.New[float64](0, 3), a, 1); return err },
		"3 neighbours among 2 rows":   func() error { _, err := Match(a, a, 3); return err },
		"means of 2 x 3, logarithms ": func() error { _, err := SampleCodes(a, b, rng); return err },
		"mean: row 1, column 1":       func() error { _, err := SampleCodes(bad, a, rng); return err },
		"logvar: row 1, column 1":     func() error { _, err := SampleCodes(a, bad, rng); return err },
		"generator false":             func() error { _, err := SampleCodes(a, a, nil); return err },
		"1 cells":                     func() error { _, _, err := Halves([]int{4}, rng); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
