package cells

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

func simulated(t *testing.T, s Simulation, seed uint64) *Simulated {
	t.Helper()
	m, err := s.Draw(t.Context(), rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCountsHaveTheLawTheyAreDrawnFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ mean, theta float64 }{{0.1, 0.5}, {3, 2}, {40, 3}, {500, 2000}, {2000, 4}} {
		const n = 20000
		var sum, squares float64
		for range n {
			x := float64(negativeBinomial(c.mean, c.theta, rng))
			sum, squares = sum+x, squares+(x-c.mean)*(x-c.mean)
		}
		variance := c.mean + c.mean*c.mean/c.theta
		kurtosis := 6/c.theta + 1/variance + 3 // of the negative binomial
		if off := math.Abs(sum/n - c.mean); off > 5*math.Sqrt(variance/n) {
			t.Errorf("%+v: mean %v", c, sum/n)
		}
		if off := math.Abs(squares/n - variance); off > 5*variance*math.Sqrt((kurtosis-1)/n) {
			t.Errorf("%+v: variance %v, want %v", c, squares/n, variance)
		}
	}
}

func TestTheProgrammeIsInTheCounts(t *testing.T) {
	m := simulated(t, Simulation{Cells: 3000, Genes: 100, Types: 2, Rare: []int{20}, Dropout: 0.3}, 3)
	mean, n := make([]float64, 100), 0.0
	for i := range m.Counts.Rows {
		if m.Type[i] != 0 {
			continue
		}
		n++
		columns, values := m.Counts.Row(i)
		for k, j := range columns {
			mean[j] += float64(values[k]) / (0.7 * m.Library[i])
		}
	}
	off := 0.0
	for j := range mean {
		off = max(off, math.Abs(mean[j]/n/m.Share.Row(0)[j]-1))
	}
	if off > 0.15 {
		t.Errorf("a gene is %v from its expected share in type 0", off)
	}
	sum := 0.0
	for _, v := range m.Share.Row(1) {
		sum += v
	}
	if math.Abs(sum-1) > 1e-12 {
		t.Errorf("shares sum to %v", sum)
	}
	q, err := Measure(m.Counts, m.Genes)
	if err != nil {
		t.Fatal(err)
	}
	mito, err := stats.Mean(q.Mito)
	if err != nil || math.Abs(mito-0.03) > 0.02 {
		t.Errorf("mitochondrial share %v, %v", mito, err)
	}
}

func TestWhatIsPlantedIsThere(t *testing.T) {
	m := simulated(t, Simulation{NearCopies: 40, Batches: 3}, 4)
	size := make([]int, len(m.Types))
	for i, c := range m.Type {
		if m.CopyOf[i] < 0 {
			size[c]++
		}
	}
	if len(m.Types) != 8 || size[6] != 32 || size[7] != 14 || !slices.IsSortedFunc(size[:6], func(a, b int) int { return b - a }) || size[5] < 1 {
		t.Errorf("types %v of sizes %v", m.Types, size)
	}
	twins := 0
	n, err := Normalise(m.Counts, 0)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Log1p(n)
	if err != nil {
		t.Fatal(err)
	}
	c, err := PCA{Components: 20}.Sparse(x)
	if err != nil {
		t.Fatal(err)
	}
	near, err := NearestOthers(c.Scores, 2)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for i, of := range m.CopyOf {
		if of < 0 {
			continue
		}
		twins++
		if m.Type[i] != m.Type[of] || m.Batch[i] != m.Batch[of] || m.Library[i] != m.Library[of] || m.CopyOf[of] >= 0 {
			t.Errorf("cell %d is no twin of %d", i, of)
		}
		if index, _ := near.Row(i); index[1] == of || m.CopyOf[index[1]] == of {
			found++
		}
	}
	if twins != 40 || found < 38 {
		t.Errorf("%d twins, %d of them next to their originals", twins, found)
	}
	if slices.Max(m.Batch) != 2 || slices.Min(m.Batch) != 0 {
		t.Error("there are not three batches")
	}
}

func TestBatchesMoveCellsOfOneType(t *testing.T) {
	between := func(sd float64) float64 {
		m := simulated(t, Simulation{Cells: 600, Genes: 200, Types: 1, Rare: []int{}, Batches: 2, BatchSD: sd}, 5)
		n, err := Normalise(m.Counts, 0)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Log1p(n)
		if err != nil {
			t.Fatal(err)
		}
		c, err := PCA{Components: 2}.Sparse(x)
		if err != nil {
			t.Fatal(err)
		}
		var in, out []float64
		for i, b := range m.Batch {
			if b == 0 {
				in = append(in, c.Scores.Row(i)[0])
			} else {
				out = append(out, c.Scores.Row(i)[0])
			}
		}
		auc, err := stats.AUC(in, out)
		if err != nil {
			t.Fatal(err)
		}
		return math.Abs(auc - 0.5)
	}
	if none, some := between(1e-9), between(0.5); none > 0.15 || some < 0.4 {
		t.Errorf("the first component tells batches apart by %v without and %v with a shift", none, some)
	}
}

func TestASeedGivesTheSameCountsOnAnyNumberOfCores(t *testing.T) {
	s := Simulation{Cells: 200, Genes: 100, NearCopies: 5}
	want := simulated(t, s, 6)
	before := runtime.GOMAXPROCS(1)
	got := simulated(t, s, 6)
	runtime.GOMAXPROCS(before)
	if !reflect.DeepEqual(got, want) {
		t.Error("one core draws other counts")
	}
	if other := simulated(t, s, 7); reflect.DeepEqual(other.Counts, want.Counts) {
		t.Error("another seed draws the same counts")
	}
	if err := want.Counts.Check("counts"); err != nil {
		t.Error(err)
	}
}

func TestSimulationsThatCannotBeAreRefused(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for want, s := range map[string]Simulation{
		"10 cells cannot hold":           {Cells: 10},
		"a rare type of 0 cells":         {Rare: []int{0}},
		"20 genes, of which 30":          {Genes: 20},
		"dropout 1 ":                     {Dropout: 1},
		"copy noise 2 ":                  {CopyNoise: 2},
		"-1 near-copies":                 {NearCopies: -1},
		"fold -1":                        {Fold: -1},
		"theta NaN":                      {Theta: math.NaN()},
		"deviations -1":                  {LibrarySD: -1},
		"1000 cells cannot hold 1052 ra": {NearCopies: 1000},
	} {
		if _, err := s.Draw(t.Context(), rng); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	for _, s := range []Simulation{{}, {Cells: 100, NearCopies: 20}} {
		if m, err := s.Draw(interrupted, rand.New(rand.NewPCG(1, 0))); m != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted it draws %v, %v", m, err)
		}
	}
	if _, err := (Simulation{}).Draw(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "rng is nil") {
		t.Error(err)
	}
}
