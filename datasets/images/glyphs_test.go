package images_test

import (
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
)

func load(t testing.TB, name string) *images.Images {
	t.Helper()
	m, err := images.Load(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestGlyphsStayTheSameForEver(t *testing.T) {
	// From the release that introduced them; it may not change.
	const want = "6a3f321d8bd8029630a5608d48836ab52cb97d0e301d05f35cf0d2823fb1ffd0"
	a, b := load(t, "glyphs"), load(t, "glyphs")
	if a.Hash != b.Hash || a.Hash != want {
		t.Errorf("%s then %s, want %s", a.Hash, b.Hash, want)
	}
	if !a.Synthetic || len(a.Sources) > 0 || a.Shape != [3]int{1, 16, 16} || a.Train.X.Rows != 3000 || a.Test.X.Rows != 1000 {
		t.Errorf("synthetic %v, sources %v, shape %v, %d and %d rows", a.Synthetic, a.Sources, a.Shape, a.Train.X.Rows, a.Test.X.Rows)
	}
}

// distance is Euclidean; it gives up, with a value of at least the limit, once
// that is passed.
func distance(a, b []float32, limit float64) float64 {
	sum := 0.0
	for j := 0; j < len(a) && sum < limit*limit; j += 16 {
		for k, v := range a[j : j+16] {
			d := float64(v - b[j+k])
			sum += d * d
		}
	}
	return math.Sqrt(sum)
}

// nearest returns the row of x nearest to v, but for row `not`.
func nearest(x array.Matrix[float32], v []float32, not int) (int, float64) {
	best, at := math.Inf(1), -1
	for k := range x.Rows {
		if k == not {
			continue
		}
		if d := distance(x.Row(k), v, best); d < best {
			best, at = d, k
		}
	}
	return at, best
}

func TestPlantedGlyphsAreTheOnlyNearPairs(t *testing.T) {
	m := load(t, "glyphs")
	originals, copies := m.Planted["originals"], m.Planted["copies"]
	if len(originals) != 100 || len(copies) != 100 || !slices.IsSorted(originals) || !slices.IsSorted(copies) {
		t.Fatalf("%d originals, %d copies", len(originals), len(copies))
	}
	for i := range m.Train.X.Rows {
		k, d := nearest(m.Train.X, m.Train.X.Row(i), i)
		pair := slices.Contains(copies, i) && slices.Contains(originals, k) || slices.Contains(originals, i) && slices.Contains(copies, k)
		if pair != (d < 0.3) {
			t.Errorf("row %d: nearest row %d at %v, planted pair: %v", i, k, d, pair)
		}
		if pair && m.Train.Y[i] != m.Train.Y[k] {
			t.Errorf("rows %d and %d are near and of different classes", i, k)
		}
	}
}

// Most test images have a nearest training image of their class, most of the
// mislabelled ones have not.
func TestMislabelledGlyphsContradictTheirNeighbours(t *testing.T) {
	m := load(t, "glyphs")
	wrong := m.Planted["mislabelled"]
	if len(wrong) != 60 || len(m.Planted) != 3 {
		t.Fatalf("%d mislabelled, %d groups", len(wrong), len(m.Planted))
	}
	agree := func(x array.Matrix[float32], row, not, y int) int {
		k, _ := nearest(m.Train.X, x.Row(row), not)
		if m.Train.Y[k] == y {
			return 1
		}
		return 0
	}
	right, contradicted := 0, 0
	for row, y := range m.Test.Y {
		right += agree(m.Test.X, row, -1, y)
	}
	for _, row := range wrong {
		contradicted += 1 - agree(m.Train.X, row, row, m.Train.Y[row])
		if slices.Contains(m.Planted["originals"], row) || slices.Contains(m.Planted["copies"], row) {
			t.Errorf("row %d is in two groups", row)
		}
	}
	t.Logf("the nearest training image gives the class of %d of 1000 test images and contradicts %d of 60 wrong labels", right, contradicted)
	if right < 600 || contradicted < 50 {
		t.Errorf("the nearest training image gives the class of %d of 1000 test images and contradicts %d of 60 wrong labels", right, contradicted)
	}
}

func TestGlyphClassesAreBalanced(t *testing.T) {
	m := load(t, "glyphs")
	for _, p := range []datasets.Part{m.Train, m.Test} {
		counts := make([]int, len(m.Classes))
		for _, y := range p.Y {
			counts[y]++
		}
		if each := p.X.Rows / 10; slices.Min(counts) < each*9/10 || slices.Max(counts) > each*11/10 {
			t.Errorf("classes %v", counts)
		}
	}
}

func BenchmarkGlyphs(b *testing.B) {
	for b.Loop() {
		load(b, "glyphs")
	}
}
