package cells

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/cells"
)

// drawn are cells with random counts of two classes; the last gene is
// mitochondrial, and the first cell has nothing else.
func drawn(n, genes int) *Cells {
	rng := rand.New(rand.NewPCG(1, 2))
	dense := array.New[float32](n, genes)
	c := &Cells{About: datasets.About{Name: "drawn", Classes: []string{"a", "b"}, Hash: "drawn"}, Y: make([]int, n)}
	for i := range n {
		c.Barcodes = append(c.Barcodes, fmt.Sprintf("cell-%d", i))
		c.Y[i] = i%3 - 1 // every third has no label
		for j := range genes - 1 {
			dense.Row(i)[j] = float32(rng.IntN(2 + j%5*(1+i%2)))
		}
		dense.Row(i)[j0] = float32(1 + i)
	}
	for j := range genes - 1 {
		c.Genes = append(c.Genes, fmt.Sprintf("G%d", j))
		dense.Row(0)[j] = 0
	}
	c.Genes = append(c.Genes, "MT-X")
	dense.Row(0)[genes-1] = 9
	c.Counts = sparse(dense)
	return c
}

const j0 = 3 // the gene whose counts say which cell it is

func sparse(d array.Matrix[float32]) array.Sparse[float32] {
	s := array.Sparse[float32]{Rows: d.Rows, Cols: d.Cols, Starts: []int{0}}
	for i := range d.Rows {
		for j, v := range d.Row(i) {
			if v != 0 {
				s.Columns, s.Values = append(s.Columns, int32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, len(s.Columns))
	}
	return s
}

func small20() Preparation {
	return Preparation{Choice: cells.Choice{Filter: cells.Filter{MinGenes: 2}, Variable: cells.Variable{Top: 20, Span: 0.8}, OnCounts: true}}
}

// Every number of the prepared parts is computed anew from the counts, and every
// cell is in the row of its number.
func TestPreparedCellsAreThePublishedOnes(t *testing.T) {
	c := drawn(101, 40)
	got, err := c.Prepared(small20(), 42)
	if err != nil {
		t.Fatal(err)
	}
	if got.Train.X.Rows != 85 || got.Test.X.Rows != 15 || got.Train.X.Cols != 20 || len(got.About.Features) != 20 {
		t.Fatalf("%d and %d cells, %d genes", got.Train.X.Rows, got.Test.X.Rows, got.Train.X.Cols)
	}
	ids := append(slices.Clone(got.Train.IDs), got.Test.IDs...)
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 100 || ids[0] != 1 {
		t.Errorf("the cells are %v", ids)
	}
	for _, part := range []datasets.Part{got.Train, got.Test} {
		for i, id := range part.IDs {
			total := 0.0
			for j := range c.Counts.Cols {
				total += float64(c.Counts.At(id, j))
			}
			if part.Extra[datasets.Library][i] != total {
				t.Errorf("cell %d: a total of %v, want %v", id, part.Extra[datasets.Library][i], total)
			}
			for k, f := range got.About.Features {
				want := math.Log1p(1e4 * float64(c.Counts.At(id, slices.Index(c.Genes, f.Name))) / total)
				if math.Abs(want-float64(part.X.Row(i)[k])) > 1e-5 {
					t.Fatalf("cell %d, gene %s: %v, want %v", id, f.Name, part.X.Row(i)[k], want)
				}
			}
			class := got.About.Classes[part.Y[i]]
			if y := c.Y[id]; y < 0 && class != Unlabelled || y >= 0 && class != c.Classes[y] {
				t.Errorf("cell %d of code %d is of class %s", id, y, class)
			}
		}
	}
}

// The order in which the train part was drawn is the split's own.
func TestTheTrainPartKnowsHowItWasDrawn(t *testing.T) {
	p, err := drawn(60, 40).Prepared(small20(), 5)
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.Sorted(slices.Values(append(slices.Clone(p.Train.IDs), p.Test.IDs...)))
	split, err := cells.Divide(len(kept), 0.85, 5)
	if err != nil {
		t.Fatal(err)
	}
	for k, at := range split.Train {
		if p.Train.IDs[p.DrawOrder[k]] != kept[at] {
			t.Errorf("the %d. cell drawn is %d, it was %d", k+1, p.Train.IDs[p.DrawOrder[k]], kept[at])
		}
	}
	if slices.IsSorted(p.DrawOrder) || len(p.DrawOrder) != len(split.Train) {
		t.Error("nothing was drawn: this test looks at nothing")
	}
}

func TestWhatChangesThePreparationChangesItsHash(t *testing.T) {
	c := drawn(60, 40)
	seen := map[string]string{}
	for name, change := range map[string]func(*Preparation, *uint32){
		"nothing":  func(*Preparation, *uint32) {},
		"filter":   func(p *Preparation, _ *uint32) { p.Filter.MinGenes = 3 },
		"genes":    func(p *Preparation, _ *uint32) { p.Variable.Top = 19 },
		"on":       func(p *Preparation, _ *uint32) { p.OnCounts = false },
		"target":   func(p *Preparation, _ *uint32) { p.Target = 5000 },
		"fraction": func(p *Preparation, _ *uint32) { p.TrainFraction = 0.5 },
		"scaled":   func(p *Preparation, _ *uint32) { p.Scaled = true },
		"seed":     func(_ *Preparation, seed *uint32) { *seed = 1 },
	} {
		p, seed := small20(), uint32(42)
		change(&p, &seed)
		got, err := c.Prepared(p, seed)
		if err != nil {
			t.Fatal(err)
		}
		if other, ok := seen[got.Hash]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[got.Hash] = name
	}
}

// Scaled cells are those of lib/cells, and everything else is as it was.
func TestScaledCellsAreZScoresOfTheSameCells(t *testing.T) {
	c, p := drawn(101, 40), small20()
	plain, err := c.Prepared(p, 42)
	if err != nil {
		t.Fatal(err)
	}
	p.Scaled = true
	got, err := c.Prepared(p, 42)
	if err != nil || !slices.Equal(got.Train.IDs, plain.Train.IDs) || !slices.Equal(got.Train.Y, plain.Train.Y) {
		t.Fatalf("%v: other cells than unscaled", err)
	}
	for j := range got.Train.X.Cols {
		sum, squares := 0.0, 0.0
		for _, part := range []datasets.Part{got.Train, got.Test} {
			for i := range part.X.Rows {
				v := float64(part.X.Row(i)[j])
				sum, squares = sum+v, squares+v*v
			}
		}
		if n := 100.0; math.Abs(sum) > 1e-3 || math.Abs(squares/(n-1)-1) > 1e-4 {
			t.Errorf("gene %d: sum %v, variance %v", j, sum, squares/(n-1))
		}
	}
}

// The clusters of the simulated cells are what Leiden finds in them by itself; the
// smallest has a name of its own.
func TestClassesCanBeClusters(t *testing.T) {
	c, err := Load(t.Context(), "simulated_cells")
	if err != nil {
		t.Fatal(err)
	}
	p := Preparation{Choice: cells.Choice{OnCounts: true}, Clusters: true}
	got, err := c.Prepared(p, 42)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := cells.Options{Choice: p.Choice}.Prepare(c.Counts, c.Genes, rand.New(rand.NewPCG(42, 0)))
	if err != nil {
		t.Fatal(err)
	}
	sizes := make([]int, len(got.About.Classes))
	for _, part := range []datasets.Part{got.Train, got.Test} {
		for i, id := range part.IDs {
			k, _ := slices.BinarySearch(alone.Cells, id)
			if part.Y[i] != alone.Groups[k] {
				t.Fatalf("cell %d is in cluster %d, want %d", id, part.Y[i], alone.Groups[k])
			}
			sizes[part.Y[i]]++
		}
	}
	last := len(sizes) - 1
	if names := got.About.Classes; names[last] != Smallest || names[last-1] != SecondSmallest || names[0] != "cluster 0" {
		t.Errorf("classes %v", got.About.Classes)
	}
	if !slices.IsSortedFunc(sizes, func(a, b int) int { return b - a }) {
		t.Errorf("clusters of %v cells are not in the order of their sizes", sizes)
	}
	p.Clusters = false
	if plain, err := c.Prepared(p, 42); err != nil || plain.Hash == got.Hash {
		t.Errorf("clusters and types have the same hash (%v)", err)
	}
}

func TestFewClustersHaveNamesToo(t *testing.T) {
	for n, want := range [][]string{nil, {Smallest}, {"cluster 0", Smallest}, {"cluster 0", SecondSmallest, Smallest}} {
		if got := clusterNames(max(n, 1)); n > 0 && !slices.Equal(got, want) {
			t.Errorf("%d clusters are called %q, want %q", n, got, want)
		}
	}
}

func TestABadPreparationIsRefused(t *testing.T) {
	for want, change := range map[string]func(*Preparation){
		"datasets: drawn: the fraction for training is 1, want one between 0 and 1": func(p *Preparation) { p.TrainFraction = 1 },
		"a fraction of 0.001 of 59 cells":                                           func(p *Preparation) { p.TrainFraction, p.Filter.MaxMito = 0.001, 1 },
		"41 of 40 genes were requested":                                             func(p *Preparation) { p.Variable.Top = 41 },
	} {
		p := small20()
		change(&p)
		if _, err := drawn(60, 40).Prepared(p, 42); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

// One-hot classes follow the genes in both parts; nothing else changes, and the
// hash does.
func TestTypesFollowTheGenes(t *testing.T) {
	c, err := Load(t.Context(), "simulated_cells")
	if err != nil {
		t.Fatal(err)
	}
	p := Preparation{Choice: cells.Choice{Variable: cells.Variable{Top: 40}, OnCounts: true}}
	plain, err := c.Prepared(p, 42)
	if err != nil {
		t.Fatal(err)
	}
	p.Types = true
	with, err := c.Prepared(p, 42)
	if err != nil {
		t.Fatal(err)
	}
	n := len(plain.About.Classes)
	if with.Hash == plain.Hash || len(with.About.Features) != 40+n || with.About.Features[40].Name != "class "+plain.About.Classes[0] {
		t.Errorf("features %v", with.About.Features)
	}
	for k, part := range []datasets.Part{with.Train, with.Test} {
		before := []datasets.Part{plain.Train, plain.Test}[k]
		for i := range part.X.Rows {
			row, types := part.X.Row(i)[:40], part.X.Row(i)[40:]
			if !slices.Equal(row, before.X.Row(i)) || len(types) != n {
				t.Fatalf("cell %d has other genes, or %d types", i, len(types))
			}
			for j, v := range types {
				if (v == 1) != (j == part.Y[i]) || v != 0 && v != 1 {
					t.Fatalf("cell %d of class %d has the types %v", i, part.Y[i], types)
				}
			}
		}
	}
}

// The cells of a donor are in one part, in any case with those that must be in the train part; a cell without a donor is alone.
func TestCellsOfAGroupStayTogether(t *testing.T) {
	c := drawn(121, 40)
	donors := make([]string, 121)
	for i := range donors {
		if i%13 != 0 {
			donors[i] = fmt.Sprintf("d%d", i%12)
		}
	}
	c.Obs = map[string][]string{"donor": donors}
	p := small20()
	p.GroupBy = "donor"
	split := func(p *datasets.Prepared) (held []string) {
		for _, id := range p.Test.IDs {
			if d := donors[id]; d != "" && !slices.Contains(held, d) {
				held = append(held, d)
			}
		}
		for _, id := range p.Train.IDs {
			if slices.Contains(held, donors[id]) {
				t.Fatalf("cell %d of donor %s is in the train part, others are not", id, donors[id])
			}
		}
		if len(p.Train.IDs)+len(p.Test.IDs) != 120 || len(p.DrawOrder) != len(p.Train.IDs) || p.About.GroupColumn != "donor" {
			t.Fatalf("%d and %d cells, groups by %q", len(p.Train.IDs), len(p.Test.IDs), p.About.GroupColumn)
		}
		return held
	}
	for seed := range uint32(5) {
		got, err := c.Prepared(p, seed)
		if err != nil {
			t.Fatal(err)
		}
		held := split(got)
		if n := len(got.Test.IDs); n < 10 || n > 18 || len(held) == 0 {
			t.Errorf("seed %d: %d cells of %v are held out", seed, n, held)
		}
		named := slices.IndexFunc(got.Test.IDs, func(id int) bool { return donors[id] == held[0] })
		kept, err := c.Prepared(p, seed, got.Test.IDs[named])
		if err != nil {
			t.Fatal(err)
		}
		if still := split(kept); slices.Contains(still, held[0]) || len(still) != len(held)-1 || kept.Hash == got.Hash {
			t.Errorf("seed %d: %v are held out; with a cell of %s kept %v", seed, held, held[0], still)
		}
	}
	plain, err := c.Prepared(small20(), 1)
	grouped, _ := c.Prepared(p, 1)
	if err != nil || plain.Hash == grouped.Hash || plain.About.GroupColumn != "" {
		t.Errorf("without groups: %v, %q", err, plain.About.GroupColumn)
	}
	p.GroupBy = "donors"
	if _, err := c.Prepared(p, 1); err == nil || !strings.Contains(err.Error(), `there is no column "donors"; did you mean "donor"?`) {
		t.Error(err)
	}
	for i := range donors {
		donors[i] = fmt.Sprint("d", i%3)
	}
	p.GroupBy = "donor"
	if _, err := c.Prepared(p, 1); err == nil || !strings.Contains(err.Error(), "by donor: datasets: 120 rows in 3 groups leave no test part") {
		t.Error(err)
	}
}
