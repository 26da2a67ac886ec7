package cells

import (
	"slices"
	"testing"
)

// A part of the atlas is drawn as the whole is: the programme of genes does not depend
// on how many cells there are.
func TestTheAtlasIsWhatItsDescriptionSays(t *testing.T) {
	set := simulatedAtlas()
	s, rng := AtlasSimulation()
	if s.Cells != set.info.Rows || s.Genes != set.info.Features {
		t.Errorf("%d cells x %d genes, described as %d x %d", s.Cells, s.Genes, set.info.Rows, set.info.Features)
	}
	s.Cells = 1500
	c, err := drawSimulated(&loader{ctx: t.Context(), info: set.info}, s, rng)
	if err != nil {
		t.Fatal(err)
	}
	const published = 531 // entries of a cell of PBMC-33k
	if filled := float64(len(c.Counts.Values)) / float64(s.Cells); filled < 0.97*published || filled > 1.03*published {
		t.Errorf("%.0f counts above 0 in a cell, PBMC-33k has %d", filled, published)
	}
	m := slices.Repeat([]int{0}, len(set.info.Classes))
	for _, y := range c.Y {
		m[y]++
	}
	if !slices.Equal(m[s.Types:], s.Rare) || slices.Min(m) < 1 || !slices.Equal(set.info.Classes[s.Types:], []string{"rare0", "rare1", "rare2"}) {
		t.Errorf("%d cells of the types %q", m, set.info.Classes)
	}
	if want := "51eac288935f2477283eec3e5203a5774f914db67bf2ea50e02e3078752ffb03"; c.hash() != want {
		t.Errorf("hash %s, want %s", c.hash(), want)
	}
}

// BenchmarkDrawAtlas draws the whole set and holds it to its hash.
//
//	go test -run NONE -bench DrawAtlas -benchtime 1x ./datasets/cells
func BenchmarkDrawAtlas(b *testing.B) {
	for b.Loop() {
		c, err := Load(b.Context(), "simulated_atlas")
		if err != nil {
			b.Fatal(err)
		}
		if want := "5dfa6bb9ad18edd707128be01a1bab9f3bc30b8675ca1278e770023662539a03"; c.Hash != want {
			b.Fatalf("hash %s, want %s", c.Hash, want)
		}
	}
}
