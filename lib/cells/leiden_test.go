package cells

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/stats"

	"gonum.org/v1/gonum/graph/community"
	"gonum.org/v1/gonum/graph/simple"
)

// Zachary's karate club (1977), 34 members.
var karate = [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}, {0, 7}, {0, 8}, {0, 10}, {0, 11}, {0, 12}, {0, 13}, {0, 17}, {0, 19},
	{0, 21}, {0, 31}, {1, 2}, {1, 3}, {1, 7}, {1, 13}, {1, 17}, {1, 19}, {1, 21}, {1, 30}, {2, 3}, {2, 7}, {2, 27}, {2, 28}, {2, 32}, {2, 9},
	{2, 8}, {2, 13}, {3, 7}, {3, 12}, {3, 13}, {4, 6}, {4, 10}, {5, 6}, {5, 10}, {5, 16}, {6, 16}, {8, 30}, {8, 32}, {8, 33}, {9, 33}, {13, 33},
	{14, 32}, {14, 33}, {15, 32}, {15, 33}, {18, 32}, {18, 33}, {19, 33}, {20, 32}, {20, 33}, {22, 32}, {22, 33}, {23, 25}, {23, 27}, {23, 32},
	{23, 33}, {23, 29}, {24, 25}, {24, 27}, {24, 31}, {25, 31}, {26, 29}, {26, 33}, {27, 33}, {28, 31}, {28, 33}, {29, 32}, {29, 33}, {30, 32},
	{30, 33}, {31, 32}, {31, 33}, {32, 33}}

// graphOf makes a graph of n nodes from edges of weight 1.
func graphOf(n int, edges [][2]int) array.Sparse[float64] {
	m := array.New[float64](n, n)
	for _, e := range edges {
		m.Row(e[0])[e[1]], m.Row(e[1])[e[0]] = 1, 1
	}
	out := array.Sparse[float64]{Rows: n, Cols: n, Starts: []int{0}}
	for i := range n {
		for j, v := range m.Row(i) {
			if v != 0 {
				out.Columns, out.Values = append(out.Columns, int32(j)), append(out.Values, v)
			}
		}
		out.Starts = append(out.Starts, len(out.Columns))
	}
	return out
}

// blobs draws places around centres that lie apart times their spread from each
// other, and the centre of each.
func blobs(rng *rand.Rand, n, centres, columns int, apart float64) (array.Matrix[float64], []int) {
	middle := array.Normal(rng, centres, columns, apart/math.Sqrt(2*float64(columns)))
	x, of := array.Normal(rng, n, columns, 1), make([]int, n)
	for i := range n {
		of[i] = i % centres
		add(x.Row(i), 1, middle.Row(of[i]))
	}
	return x, of
}

func neighbourGraph(t *testing.T, x array.Matrix[float64], k int) array.Sparse[float64] {
	t.Helper()
	n, err := NearestOthers(x, k)
	if err != nil {
		t.Fatal(err)
	}
	g, err := n.Connectivities()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// partition returns communities and their modularity.
func partition(t *testing.T, l Leiden, g array.Sparse[float64], seed uint64) ([]int, float64) {
	t.Helper()
	of, err := l.Clusters(g, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		t.Fatal(err)
	}
	q, err := Modularity(g, of, defaults.Fill(l).Resolution)
	if err != nil {
		t.Fatal(err)
	}
	return of, q
}

func TestModularityIsItsDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	g, m := graphOf(34, karate), float64(len(karate))
	of := make([]int, 34)
	for i := range of {
		of[i] = 10 * rng.IntN(4)
	}
	for _, r := range []float64{0.5, 1, 2} {
		want := 0.0
		for i := range 34 {
			for j := range 34 {
				if of[i] == of[j] {
					di, dj := float64(g.Starts[i+1]-g.Starts[i]), float64(g.Starts[j+1]-g.Starts[j])
					want += (g.At(i, j) - r*di*dj/(2*m)) / (2 * m)
				}
			}
		}
		if got, err := Modularity(g, of, r); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("resolution %v: %v, want %v, %v", r, got, want, err)
		}
	}
	if q, err := Modularity(g, make([]int, 34), 1); err != nil || math.Abs(q) > 1e-12 {
		t.Errorf("one community: %v, %v", q, err)
	}
}

func TestLeidenFindsTheKarateClubsBestCommunities(t *testing.T) {
	// leidenalg 0.12.0 with igraph 1.0.0, RBConfigurationVertexPartition, the best of
	// 50 seeds.
	for r, want := range map[float64]float64{0.5: 0.6217948717948718, 1: 0.4197896120973044, 1.5: 0.2760108481262327} {
		_, q := partition(t, Leiden{Resolution: r, Starts: 20}, graphOf(34, karate), 1)
		if math.Abs(q-want) > 1e-9 {
			t.Errorf("resolution %v: modularity %v, leidenalg has %v", r, q, want)
		}
	}
}

func TestLeidenIsAsGoodAsLouvainOfGonum(t *testing.T) {
	x, _ := blobs(rand.New(rand.NewPCG(3, 4)), 300, 6, 8, 5)
	g := neighbourGraph(t, x, 10)
	w := simple.NewWeightedUndirectedGraph(0, 0)
	for i := range g.Rows {
		columns, values := g.Row(i)
		for k, j := range columns {
			if int(j) > i {
				w.SetWeightedEdge(simple.WeightedEdge{F: simple.Node(i), T: simple.Node(j), W: values[k]})
			}
		}
	}
	for _, r := range []float64{0.5, 1, 2} {
		louvain := community.Modularize(w, r, rand.NewPCG(5, 6)).Communities()
		theirs := community.Q(w, louvain, r)
		of := make([]int, g.Rows)
		for c, nodes := range louvain {
			for _, n := range nodes {
				of[n.ID()] = c
			}
		}
		if q, err := Modularity(g, of, r); err != nil || math.Abs(q-theirs) > 1e-9 {
			t.Errorf("resolution %v: modularity %v, gonum has %v, %v", r, q, theirs, err)
		}
		if _, ours := partition(t, Leiden{Resolution: r}, g, 1); ours < theirs-1e-3 {
			t.Errorf("resolution %v: Leiden %v, gonum's Louvain %v", r, ours, theirs)
		}
	}
}

func TestPlantedCommunitiesAreFound(t *testing.T) {
	for seed := range uint64(5) {
		x, truth := blobs(rand.New(rand.NewPCG(seed, 1)), 240, 4, 10, 12)
		of, _ := partition(t, Leiden{}, neighbourGraph(t, x, 15), seed)
		if r, err := stats.AdjustedRandIndex(of, truth); err != nil || r < 0.99 {
			t.Errorf("seed %d: adjusted Rand index %v with what was planted, %v", seed, r, err)
		}
	}
}

func TestCommunitiesAreConnectedAndNumberedBySize(t *testing.T) {
	x, _ := blobs(rand.New(rand.NewPCG(7, 8)), 300, 5, 4, 3)
	g := neighbourGraph(t, x, 6)
	of, _ := partition(t, Leiden{Resolution: 3}, g, 1)
	size := make([]int, slices.Max(of)+1)
	for _, c := range of {
		size[c]++
	}
	if len(size) < 5 || !slices.IsSortedFunc(size, func(a, b int) int { return b - a }) {
		t.Errorf("sizes %v", size)
	}
	seen := make([]bool, g.Rows)
	for c := range size {
		queue := []int{slices.Index(of, c)}
		seen[queue[0]] = true
		reached := 1
		for len(queue) > 0 {
			columns, _ := g.Row(queue[0])
			queue = queue[1:]
			for _, j := range columns {
				if !seen[j] && of[j] == c {
					seen[j], reached, queue = true, reached+1, append(queue, int(j))
				}
			}
		}
		if reached != size[c] {
			t.Errorf("community %d has %d nodes, %d of them connected", c, size[c], reached)
		}
	}
}

func TestPartsOfACommunityStayInItAndAreConnected(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	x, _ := blobs(rng, 200, 3, 4, 1)
	g := newNetwork(neighbourGraph(t, x, 8))
	g.share = 1 / g.total
	of := make([]int, g.Rows) // communities that the graph knows nothing of
	for i := range of {
		of[i] = i % 3
	}
	for range 20 {
		part, joined := g.refine(of, rng), 0
		for i, p := range part {
			if of[i] != of[p] {
				t.Fatalf("node %d of community %d is in a part of community %d", i, of[i], of[p])
			}
			if i == p {
				continue
			}
			joined++
			columns, _ := g.Row(i)
			if !slices.ContainsFunc(columns, func(j int32) bool { return int(j) != i && part[j] == p }) {
				t.Fatalf("node %d has no neighbour in its part", i)
			}
		}
		if joined < 20 {
			t.Errorf("%d nodes of 200 joined another", joined)
		}
	}
}

func TestLeidenDependsOnSeedAndOrderHardly(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	x, _ := blobs(rng, 300, 6, 6, 5)
	first, q := partition(t, Leiden{}, neighbourGraph(t, x, 12), 1)
	if again, _ := partition(t, Leiden{}, neighbourGraph(t, x, 12), 1); !slices.Equal(first, again) {
		t.Error("one seed, two results")
	}
	for seed := range uint64(5) {
		if _, other := partition(t, Leiden{}, neighbourGraph(t, x.Gather(rng.Perm(300)), 12), seed); math.Abs(other-q) > 5e-3 {
			t.Errorf("seed %d and another order: modularity %v, %v before", seed, other, q)
		}
	}
	if _, best := partition(t, Leiden{Starts: 5}, neighbourGraph(t, x, 12), 1); best < q-1e-12 {
		t.Errorf("the best of five starts has %v, the first of them %v", best, q)
	}
}

func TestGraphsThatAreNoneAreRefused(t *testing.T) {
	g := graphOf(3, [][2]int{{0, 1}, {1, 2}})
	bend := func(f func(*array.Sparse[float64])) array.Sparse[float64] {
		out := g
		out.Values = slices.Clone(g.Values)
		f(&out)
		return out
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for want, f := range map[string]func() ([]int, error){
		"weight 2 from 0 to 1 and 1 back": func() ([]int, error) {
			return Leiden{}.Clusters(bend(func(g *array.Sparse[float64]) { g.Values[0] = 2 }), rng)
		},
		"weight -1 from 0 to 1": func() ([]int, error) {
			return Leiden{}.Clusters(bend(func(g *array.Sparse[float64]) { g.Values[0], g.Values[1] = -1, -1 }), rng)
		},
		"is NaN": func() ([]int, error) {
			return Leiden{}.Clusters(bend(func(g *array.Sparse[float64]) { g.Values[0] = math.NaN() }), rng)
		},
		"the graph is 3 x 4": func() ([]int, error) {
			return Leiden{}.Clusters(bend(func(g *array.Sparse[float64]) { g.Cols = 4 }), rng)
		},
		"no edge among 3":    func() ([]int, error) { return Leiden{}.Clusters(graphOf(3, nil), rng) },
		"resolution -1":      func() ([]int, error) { return Leiden{Resolution: -1}.Clusters(g, rng) },
		"rng is nil":         func() ([]int, error) { return Leiden{}.Clusters(g, nil) },
		"2 clusters for 3 n": func() ([]int, error) { _, err := Modularity(g, []int{0, 1}, 1); return nil, err },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
