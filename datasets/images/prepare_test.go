package images

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

func draw(t *testing.T, name string, train, test int) *datasets.Prepared {
	t.Helper()
	p, err := Prepare(context.Background(), name, train, test, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPreparedImagesAreTheLoadedOnesNormalised(t *testing.T) {
	all, err := Load(context.Background(), "glyphs")
	if err != nil {
		t.Fatal(err)
	}
	p := draw(t, "glyphs", 0, 0)
	if p.Train.X.Rows != 3000 || p.Test.X.Rows != 1000 || !slices.Equal(p.Train.Y, all.Train.Y) || !slices.Equal(p.About.Planted["copies"], all.Planted["copies"]) {
		t.Fatalf("%d and %d images", p.Train.X.Rows, p.Test.X.Rows)
	}
	var sum, squares float64
	for k, v := range p.Train.X.Data {
		back := float64(v)*p.Norm.SD[0] + p.Norm.Mean[0]
		if math.Abs(back-float64(all.Train.X.Data[k])) > 1e-6 {
			t.Fatalf("value %d is %v, the pixel is %v", k, back, all.Train.X.Data[k])
		}
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(p.Train.X.Data))
	if math.Abs(sum/n) > 1e-5 || math.Abs(squares/n-1) > 1e-5 {
		t.Errorf("mean %v, mean square %v", sum/n, squares/n)
	}
}

func TestADrawIsRepeatableAndKeepsPlantedGroups(t *testing.T) {
	a, b := draw(t, "glyphs", 500, 100), draw(t, "glyphs", 500, 100)
	if a.Hash != b.Hash || !slices.Equal(a.Train.X.Data, b.Train.X.Data) {
		t.Error("two equal draws differ")
	}
	other, err := Prepare(context.Background(), "glyphs", 500, 100, rand.New(rand.NewPCG(2, 2)))
	if err != nil || other.Hash == a.Hash {
		t.Errorf("another generator gives the same images (%v)", err)
	}
	for name, ids := range a.About.Planted {
		if len(ids) == 0 || len(ids) > 60 || slices.ContainsFunc(ids, func(id int) bool { return !slices.Contains(a.Train.IDs, id) }) {
			t.Errorf("%s: ids %v", name, ids)
		}
	}
}

func TestADrawThatCannotBeIsRefused(t *testing.T) {
	for _, c := range []struct{ train, test int }{{-1, 10}, {3001, 10}, {10, 1001}, {10, -1}} {
		_, err := Prepare(context.Background(), "glyphs", c.train, c.test, rand.New(rand.NewPCG(1, 1)))
		if err == nil || !strings.Contains(err.Error(), "it has 3000 and 1000") {
			t.Errorf("%+v: %v", c, err)
		}
	}
	if _, err := Prepare(context.Background(), "glyphs", 1, 1, nil); err == nil {
		t.Error("a nil generator was accepted")
	}
	if _, err := Prepare(context.Background(), "glyfs", 1, 1, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), "glyphs") {
		t.Errorf("got %v", err)
	}
}

func TestASetWithoutATestPartIsDivided(t *testing.T) {
	info, err := Lookup("olivetti_idx")
	if err != nil {
		t.Fatal(err)
	}
	rows, held, err := drawRows(info, 300, 100, rand.New(rand.NewPCG(1, 1)))
	if err != nil || len(rows) != 300 || len(held) != 100 {
		t.Fatalf("%d and %d rows, %v", len(rows), len(held), err)
	}
	both := append(slices.Clone(rows), held...)
	slices.Sort(both)
	if len(slices.Compact(both)) != 400 {
		t.Error("an image is in both parts")
	}
	for _, c := range []struct{ train, test, rows, held int }{{0, 0, 320, 80}, {0, 1, 399, 1}, {300, 0, 300, 75}, {390, 0, 390, 10}, {1, 0, 1, 1}} {
		rows, held, err := drawRows(info, c.train, c.test, rand.New(rand.NewPCG(1, 1)))
		if err != nil || len(rows) != c.rows || len(held) != c.held {
			t.Errorf("%+v: %d and %d rows, %v", c, len(rows), len(held), err)
		}
	}
	for _, c := range []struct{ train, test int }{{400, 0}, {400, 1}, {0, 400}, {-1, 0}, {0, -1}, {200, 201}} {
		if _, _, err := drawRows(info, c.train, c.test, rand.New(rand.NewPCG(1, 1))); err == nil || !strings.Contains(err.Error(), "no test part") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// Pixels are what normalised images are of, from 0 to 1.
func TestPixelsAreNotNormalised(t *testing.T) {
	rng := func() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
	n, err := Prepare(t.Context(), "glyphs", 200, 50, rng())
	if err != nil {
		t.Fatal(err)
	}
	p, err := Pixels(t.Context(), "glyphs", 200, 50, rng())
	if err != nil {
		t.Fatal(err)
	}
	black, white := false, false
	for k, v := range p.Train.X.Data {
		if back := float64(n.Train.X.Data[k])*n.Norm.SD[0] + n.Norm.Mean[0]; math.Abs(back-float64(v)) > 1e-6 || v < 0 || v > 1 {
			t.Fatalf("pixel %d is %v, of the normalised image %v", k, v, back)
		}
		black, white = black || v == 0, white || v == 1
	}
	if !black || !white || p.Norm.Mean[0] != 0 || p.Norm.SD[0] != 1 || p.Hash == n.Hash {
		t.Errorf("black %v, white %v, normalised by %v", black, white, p.Norm)
	}
}
