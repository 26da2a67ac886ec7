package cells

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// simulatedPlaces are the components of simulated cells, whose neighbours lie in
// types of very different size.
func simulatedPlaces(t *testing.T, n int) array.Matrix[float64] {
	t.Helper()
	m, err := Simulation{Cells: n}.Draw(t.Context(), rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	logged, err := Log1p(m.Counts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := PCA{Components: 20}.Sparse(logged)
	if err != nil {
		t.Fatal(err)
	}
	return c.Scores
}

// recall is the share of the true neighbours that were found.
func recall(found, exact *Neighbours) float64 {
	hit := 0
	for i := range exact.Rows {
		got, _ := found.Row(i)
		want, _ := exact.Row(i)
		for _, j := range want {
			if slices.Contains(got, j) {
				hit++
			}
		}
	}
	return float64(hit) / float64(len(exact.Index))
}

func TestAForestMissesFewNeighbours(t *testing.T) {
	x, k := simulatedPlaces(t, 3000), 15
	exact, err := NearestOthers(x, k)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		f, err := Forest{Seed: seed}.NearestOthers(x, k)
		if err != nil {
			t.Fatal(err)
		}
		if r := recall(f, exact); r < 0.99 {
			t.Errorf("seed %d: %.4f of the neighbours", seed, r)
		}
		for i := range f.Rows {
			index, distance := f.Row(i)
			if index[0] != i || distance[0] != 0 || !slices.IsSorted(distance) {
				t.Fatalf("row %d: %v at %v", i, index, distance)
			}
			for e, j := range index[1:] {
				if slices.Contains(index[:e+1], j) {
					t.Fatalf("row %d has neighbour %d twice", i, j)
				}
			}
		}
	}
	// Without rounds it is worse, which is what they are for.
	trees, err := Forest{Trees: 2, Rounds: -1}.NearestOthers(x, k)
	if err == nil {
		t.Errorf("-1 rounds are taken: %d", trees.K)
	}
	few, err := Forest{Trees: 1, Rounds: 1}.NearestOthers(x, k)
	if err != nil || recall(few, exact) > 0.95 {
		t.Errorf("one tree and one round find %.4f (%v)", recall(few, exact), err)
	}
}

// One leaf that holds everything is the exact search, and cores do not matter.
func TestAForestOfOneLeafIsExact(t *testing.T) {
	x, k := simulatedPlaces(t, 500), 7
	exact, err := NearestOthers(x, k)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Forest{Leaf: 500}.NearestOthers(x, k)
	if err != nil || !slices.Equal(f.Index, exact.Index) || !slices.Equal(f.Distance, exact.Distance) {
		t.Errorf("other neighbours (%v)", err)
	}
	many, err := Forest{Leaf: 30}.NearestOthers(x, k)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := Forest{Leaf: 30}.NearestOthers(x, k)
	if err != nil || !slices.Equal(one.Index, many.Index) {
		t.Errorf("one core finds others (%v)", err)
	}
}

// Copies cannot be parted by a plane, and every list is full all the same.
func TestAForestOfCopies(t *testing.T) {
	f, err := Forest{Leaf: 10}.NearestOthers(array.New[float64](100, 3), 5)
	if err != nil {
		t.Fatal(err)
	}
	for i := range f.Rows {
		index, _ := f.Row(i)
		slices.Sort(index)
		if len(slices.Compact(index)) != 5 {
			t.Fatalf("row %d: %v", i, index)
		}
	}
	for want, g := range map[string]Forest{"leaves of 9 rows for 5 neighbours": {Leaf: 9}, "-1 trees": {Trees: -1}} {
		if _, err := g.NearestOthers(array.New[float64](100, 3), 5); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// Clusters hardly depend on it.
func TestClustersOfApproximateNeighbours(t *testing.T) {
	m, err := Simulation{}.Draw(t.Context(), rand.New(rand.NewPCG(3, 4)))
	if err != nil {
		t.Fatal(err)
	}
	var quality [2]float64
	exact, err := (Options{Choice: Choice{Filter: Filter{MinGenes: 1}, Variable: Variable{Top: 300}}}).Prepare(m.Counts, m.Genes, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	for k, f := range []*Forest{nil, {}} {
		o := Options{Choice: Choice{Filter: Filter{MinGenes: 1}, Variable: Variable{Top: 300}}, Forest: f}
		p, err := o.Prepare(m.Counts, m.Genes, rand.New(rand.NewPCG(1, 0)))
		if err != nil {
			t.Fatal(err)
		}
		// Both partitions are judged on the exact graph.
		if quality[k], err = Modularity(exact.Graph, p.Groups, 0.5); err != nil {
			t.Fatal(err)
		}
	}
	if quality[1] < quality[0]-0.002 {
		t.Errorf("modularity %.4f, and %.4f from approximate neighbours", quality[0], quality[1])
	}
}
