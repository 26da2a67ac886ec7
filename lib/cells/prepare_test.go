package cells

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// small are options for simulated counts of a few hundred genes.
func small() Options {
	return Options{Choice: Choice{Filter: Filter{MinGenes: 50}, Variable: Variable{Top: 300}}, PCA: PCA{Components: 20}, Use: 15}
}

func prepared(t *testing.T, o Options, counts array.Sparse[float32], genes []string, seed uint64) *Prepared {
	t.Helper()
	p, err := o.Prepare(counts, genes, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// agreement is the adjusted Rand index of the clusters with what was planted.
func agreement(t *testing.T, p *Prepared, truth []int) float64 {
	t.Helper()
	of := make([]int, len(p.Cells))
	for k, i := range p.Cells {
		of[k] = truth[i]
	}
	r, err := stats.AdjustedRandIndex(p.Groups, of)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPlantedTypesAreFoundFromCounts(t *testing.T) {
	for seed := range uint64(3) {
		m := simulated(t, Simulation{}, seed)
		for name, o := range map[string]Options{
			"as coded": small(), "on counts": func() Options { o := small(); o.OnCounts = true; return o }(),
			"scaled": func() Options { o := small(); o.OnCounts, o.Scaled = true, true; return o }(),
		} {
			if r := agreement(t, prepared(t, o, m.Counts, m.Genes, seed), m.Type); r < 0.9 {
				t.Errorf("seed %d, %s: adjusted Rand index %v with the planted types", seed, name, r)
			}
		}
	}
}

func TestTypesThatAreNoneAreNotFound(t *testing.T) {
	m := simulated(t, Simulation{Fold: 1}, 1)
	if r := agreement(t, prepared(t, small(), m.Counts, m.Genes, 1), m.Type); math.Abs(r) > 0.05 {
		t.Errorf("adjusted Rand index %v with types without a marker", r)
	}
}

func TestWhatIsPreparedBelongsTogether(t *testing.T) {
	m := simulated(t, Simulation{Cells: 300}, 2)
	genes := slices.Clone(m.Genes)
	before := slices.Clone(m.Counts.Values)
	// The first cells get so much mitochondrial RNA that they are left out.
	dying := m.Counts.Dense()
	for i := range 20 {
		dying.Row(i)[0] = 5000
	}
	o := small()
	o.Filter.MinCells = 3
	p := prepared(t, o, sparseOf(dying), genes, 1)
	if len(p.Cells) > 280 || p.Cells[0] != 20 || len(p.Genes) != 300 || len(p.Groups) != len(p.Cells) || !slices.IsSorted(p.Genes) {
		t.Fatalf("%d cells from %d on, %d genes, %d clusters", len(p.Cells), p.Cells[0], len(p.Genes), len(p.Groups))
	}
	for k, i := range p.Cells[:10] {
		total := 0.0
		for _, v := range dying.Row(i) {
			total += float64(v)
		}
		if math.Abs(p.Library[k]-total) > 10 { // genes in fewer than three cells are gone
			t.Errorf("cell %d has %v counts in all, %v in the genes that are left", i, total, p.Library[k])
		}
		for l, j := range p.Genes {
			x := float64(dying.Row(i)[j])
			if float64(p.Counts.At(k, l)) != x || math.Abs(float64(p.Logged.At(k, l))-math.Log1p(1e4*x/total)) > 1e-4 {
				t.Fatalf("cell %d, gene %d: %v counts and %v logged of %v", i, j, p.Counts.At(k, l), p.Logged.At(k, l), x)
			}
		}
	}
	if !slices.Equal(before, m.Counts.Values) {
		t.Error("the counts were written to")
	}
	if again := prepared(t, o, sparseOf(dying), genes, 1); !reflect.DeepEqual(again, p) {
		t.Error("prepared twice, two results")
	}
}

func TestTheOrderOfCellsAndGenesChangesNoClusterMuch(t *testing.T) {
	m := simulated(t, Simulation{}, 3)
	rng := rand.New(rand.NewPCG(9, 9))
	first := prepared(t, small(), m.Counts, m.Genes, 1)
	cellOrder, geneOrder := rng.Perm(m.Counts.Rows), rng.Perm(m.Counts.Cols)
	names := make([]string, len(m.Genes))
	for k, j := range geneOrder {
		names[k] = m.Genes[j]
	}
	other := prepared(t, small(), sparseOf(permuted(m.Counts.Dense().Gather(cellOrder), geneOrder)), names, 1)
	back := make([]int, m.Counts.Rows)
	for k, i := range other.Cells {
		back[cellOrder[i]] = other.Groups[k]
	}
	if r := agreement(t, first, back); r < 0.95 {
		t.Errorf("adjusted Rand index %v with the clusters in another order", r)
	}
}

func TestPrepareRefusesWhatItsStepsRefuse(t *testing.T) {
	m := simulated(t, Simulation{Cells: 100, Rare: []int{}}, 4)
	rng := rand.New(rand.NewPCG(1, 1))
	for want, o := range map[string]Options{
		"2000 of 600 genes were requested":  {},
		"none of 100 cells has 5000 genes":  {Choice: Choice{Filter: Filter{MinGenes: 5000}}},
		"neighbours on 60 of 50 components": {Use: 60},
		"150 components of 100 cells":       {Choice: Choice{Variable: Variable{Top: 300}}, PCA: PCA{Components: 150}},
		"200 neighbours among 100 rows":     {Choice: Choice{Variable: Variable{Top: 300}}, Neighbours: 200},
		"resolution -1":                     {Choice: Choice{Variable: Variable{Top: 300}}, Leiden: Leiden{Resolution: -1}},
	} {
		if _, err := o.Prepare(m.Counts, m.Genes, rng); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}
