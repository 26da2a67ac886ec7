package cells_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets/cells"
	prepare "github.com/lethe-ml/lethe/lib/cells"
	"github.com/lethe-ml/lethe/lib/stats"
)

func TestSimulatedCellsAreTheSameForEver(t *testing.T) {
	c := loaded(t, "simulated_cells")
	if want := "0d28832af7dd3553e4c4b6842ff1e274982939137080436640fd791d6653dfdd"; c.Hash != want {
		t.Errorf("hash %s, want %s", c.Hash, want)
	}
	s, rng := cells.Simulation()
	m, err := s.Draw(t.Context(), rng)
	if err != nil || !slices.Equal(m.Types, c.Classes) || !slices.Equal(m.Type, c.Y) {
		t.Errorf("types %v, classes %v, %v", m.Types, c.Classes, err)
	}
	twins := 0
	for i, original := range c.Obs["twin_of"] {
		if original == "" {
			continue
		}
		twins++
		if k := slices.Index(c.Barcodes, original); c.Y[k] != c.Y[i] || c.Obs["batch"][k] != c.Obs["batch"][i] {
			t.Errorf("cell %d is a twin of %s, which is of another type or batch", i, original)
		}
	}
	if twins != 40 {
		t.Errorf("%d twins", twins)
	}
	types := func(ids []int) (out []int) {
		for _, i := range ids {
			out = append(out, c.Y[i])
		}
		slices.Sort(out)
		return out
	}
	copied, single := c.Planted[cells.NearCopies], c.Planted[cells.Singles]
	if len(copied) != 40 || !slices.Equal(types(copied), types(single)) || !slices.IsSorted(single) {
		t.Errorf("twins %v of types %v, singles %v of types %v", copied, types(copied), single, types(single))
	}
	for i, original := range c.Obs["twin_of"] {
		if (original != "") != slices.Contains(copied, i) || original != "" && (slices.Contains(single, i) || slices.Contains(single, slices.Index(c.Barcodes, original))) {
			t.Errorf("cell %d, nearly a copy of %q: twin %t, single %t", i, original, slices.Contains(copied, i), slices.Contains(single, i))
		}
	}
	for i, b := range c.Obs["batch"] {
		if (c.Classes[c.Y[i]] == "type5" && b == "1") != slices.Contains(c.Planted[cells.Batch], i) {
			t.Errorf("cell %d of %s and batch %s is in the small batch, or is not", i, c.Classes[c.Y[i]], b)
		}
	}
}

// The zero value of every step, on the simulated cells, finds what was planted.
func TestSimulatedTypesAreFoundByThePapersRecipe(t *testing.T) {
	c := loaded(t, "simulated_cells")
	p, err := prepare.Options{}.Prepare(c.Counts, c.Genes, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	truth := make([]int, len(p.Cells))
	for k, i := range p.Cells {
		truth[k] = c.Y[i]
	}
	r, err := stats.AdjustedRandIndex(p.Groups, truth)
	if err != nil || r < 0.9 || len(p.Cells) < 1900 {
		t.Errorf("%d cells, adjusted Rand index %v with the planted types, %v", len(p.Cells), r, err)
	}
	t.Logf("adjusted Rand index %.3f", r)
}
