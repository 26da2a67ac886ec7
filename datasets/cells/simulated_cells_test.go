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
	m, err := s.Draw(rng)
	if err != nil || !slices.Equal(m.Types, c.Classes) || !slices.Equal(m.Type, c.Y) {
		t.Errorf("types %v, classes %v, %v", m.Types, c.Classes, err)
	}
	twins := 0
	for i, of := range c.Obs["twin_of"] {
		if of == "" {
			continue
		}
		twins++
		if k := slices.Index(c.Barcodes, of); c.Y[k] != c.Y[i] || c.Obs["batch"][k] != c.Obs["batch"][i] {
			t.Errorf("cell %d is a twin of %s, which is of another type or batch", i, of)
		}
	}
	if twins != 40 {
		t.Errorf("%d twins", twins)
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
