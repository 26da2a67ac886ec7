package cells

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// naive sorts all distances.
func naive(x, among array.Matrix[float64], i, k int) ([]int, []float64) {
	d := make([]float64, among.Rows)
	for j := range d {
		for e, v := range among.Row(j) {
			d[j] += (v - x.Row(i)[e]) * (v - x.Row(i)[e])
		}
	}
	order := ascending(d)[:k]
	out := make([]float64, k)
	for e, j := range order {
		out[e] = math.Sqrt(d[j])
	}
	return order, out
}

func TestNearestAreThoseOfAllDistances(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, columns := range []int{1, 2, 6, 7, 20} {
		x, among := array.Normal(rng, 40, columns, 1), array.Normal(rng, 300, columns, 1)
		n, err := Nearest(x, among, 9)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Rows {
			index, distance := n.Row(i)
			want, far := naive(x, among, i, 9)
			if !slices.Equal(index, want) || math.Abs(distance[8]-far[8]) > 1e-12 {
				t.Fatalf("%d columns, row %d: %v, want %v", columns, i, index, want)
			}
		}
		own, err := NearestOthers(among, 5)
		if err != nil {
			t.Fatal(err)
		}
		for i := range among.Rows {
			want, _ := naive(among, among, i, 5)
			if index, _ := own.Row(i); !slices.Equal(index, want) {
				t.Fatalf("%d columns, row %d among its own: %v, want %v", columns, i, index, want)
			}
		}
	}
}

func TestOfNeighboursAsNearTheFirstIsTaken(t *testing.T) {
	x := array.Matrix[float64]{Rows: 5, Cols: 1, Data: []float64{0, 1, -1, 0, 1}}
	n, err := NearestOthers(x, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int{{0, 3, 1}, {1, 4, 0}, {2, 0, 3}, {3, 0, 1}, {4, 1, 0}} {
		if index, _ := n.Row(i); !slices.Equal(index, want) {
			t.Errorf("row %d: %v, want itself and then %v", i, index, want[1:])
		}
	}
}

func TestWhatIsTooFarForFloat64IsInfinitelyFar(t *testing.T) {
	x := array.Matrix[float64]{Rows: 3, Cols: 1, Data: []float64{1e200, -1e200, 0}}
	n, err := NearestOthers(x, 3)
	if err != nil {
		t.Fatal(err)
	}
	inf := math.Inf(1)
	if want := []int{0, 1, 2, 1, 0, 2, 2, 0, 1}; !slices.Equal(n.Index, want) || !slices.Equal(n.Distance, []float64{0, inf, inf, 0, inf, inf, 0, inf, inf}) {
		t.Errorf("neighbours %v at %v", n.Index, n.Distance)
	}
}

func TestNeighboursThatAreNoneAreRefused(t *testing.T) {
	x := array.New[float64](4, 2)
	bad := array.New[float64](4, 2)
	bad.Data[3] = math.NaN()
	for want, f := range map[string]func() (*Neighbours, error){
		"5 neighbours among 4 rows":       func() (*Neighbours, error) { return NearestOthers(x, 5) },
		"0 neighbours among 4 rows":       func() (*Neighbours, error) { return Nearest(x, x, 0) },
		"1 neighbours among 0 rows":       func() (*Neighbours, error) { return Nearest(x, array.New[float64](0, 2), 1) },
		"rows of 2 and of 3 columns":      func() (*Neighbours, error) { return Nearest(x, array.New[float64](4, 3), 1) },
		"among: row 1, column 1 is NaN":   func() (*Neighbours, error) { return Nearest(x, bad, 1) },
		"cells.Nearest: row 1, column 1 ": func() (*Neighbours, error) { return NearestOthers(bad, 1) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestConnectivitiesAreScanpys(t *testing.T) {
	// scanpy 1.11.5 with umap-learn 0.5.12, neighbors(n_neighbors=4) of these places;
	// two of them are the same.
	x := array.Matrix[float64]{Rows: 12, Cols: 2, Data: []float64{0, 0, 1, 0, 0, 2.1, 3, 1, 3, 1, 5, 5, 6, 5, 5, 7, 9, 1, 8, 3, 2.1, 2.2, 4, 4}}
	want := []struct {
		i, j int
		w    float64
	}{
		{0, 1, 1.000000}, {0, 2, 1.000000}, {0, 10, 0.394335}, {1, 2, 0.034764}, {1, 3, 0.500003}, {1, 4, 0.500003},
		{2, 10, 0.965239}, {3, 4, 1.000000}, {3, 10, 1.000000}, {4, 10, 1.000000}, {5, 6, 1.000000}, {5, 7, 1.000000},
		{5, 8, 0.463115}, {5, 9, 0.358421}, {5, 11, 1.000000}, {6, 7, 0.876424}, {6, 8, 0.536887}, {6, 9, 0.641588},
		{6, 11, 0.782839}, {7, 11, 0.247156}, {8, 9, 1.000000}, {10, 11, 0.434320},
	}
	n, err := NearestOthers(x, 4)
	if err != nil {
		t.Fatal(err)
	}
	g, err := n.Connectivities()
	if err != nil {
		t.Fatal(err)
	}
	if err := checkGraph("test", g); err != nil {
		t.Error(err)
	}
	for _, e := range want {
		if math.Abs(g.At(e.i, e.j)-e.w) > 2e-5 {
			t.Errorf("%d and %d: weight %v, scanpy has %v", e.i, e.j, g.At(e.i, e.j), e.w)
		}
	}
	if len(g.Values) != 2*len(want) {
		t.Errorf("%d weights, scanpy has %d", len(g.Values), 2*len(want))
	}
	if _, err := (&Neighbours{Rows: 2, K: 1}).Connectivities(); err == nil || !strings.Contains(err.Error(), "1 neighbours") {
		t.Error(err)
	}
	if n, err = Nearest(x, x, 4); err != nil { // the second of two equal rows is not its own first neighbour
		t.Fatal(err)
	}
	if _, err := n.Connectivities(); err == nil || !strings.Contains(err.Error(), "row 4 is not the first of its own neighbours") {
		t.Error(err)
	}
}

func TestTheGraphDoesNotDependOnTheOrderOfCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x := array.Normal(rng, 80, 5, 1)
	graph := func(x array.Matrix[float64]) array.Sparse[float64] {
		n, err := NearestOthers(x, 8)
		if err != nil {
			t.Fatal(err)
		}
		g, err := n.Connectivities()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	order := rng.Perm(80)
	want, got := graph(x).Dense(), graph(x.Gather(order)).Dense()
	for a, i := range order {
		for b, j := range order {
			if math.Abs(got.Row(a)[b]-want.Row(i)[j]) > 1e-12 {
				t.Fatalf("%d and %d: %v in one order, %v in another", i, j, want.Row(i)[j], got.Row(a)[b])
			}
		}
	}
}
