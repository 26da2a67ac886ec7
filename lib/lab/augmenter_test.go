// Tests of augmenter.go.

package lab

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/engine"
)

func glyphs(t *testing.T, train, test int) *datasets.Prepared {
	t.Helper()
	p, err := images.Prepare(t.Context(), "glyphs", train, test, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestTheAugmentersBorderIsBlackAfterNormalisation(t *testing.T) {
	p := glyphs(t, 50, 10)
	a := NewAugmenter(p, images.Augmentation{}, 3)
	dst := make([]float32, p.Train.X.Cols)
	blackAt := 0
	for id := range 50 {
		if err := a.Augment(dst, p.Train.X.Row(id), 2, id); err != nil {
			t.Fatal(err)
		}
		raw, moved := make([]float32, len(dst)), make([]float32, len(dst))
		for k, v := range p.Train.X.Row(id) {
			raw[k] = float32(float64(v)*p.Norm.SD[0] + p.Norm.Mean[0])
		}
		if err := a.Row(moved, raw, p.About.Shape, a.Seed.Stream(engine.StreamAugment, 2, uint64(id))); err != nil {
			t.Fatal(err)
		}
		for k, v := range moved {
			want := (float64(v) - p.Norm.Mean[0]) / p.Norm.SD[0]
			if math.Abs(float64(dst[k])-want) > 1e-5 {
				t.Fatalf("image %d, value %d: %v, want %v", id, k, dst[k], want)
			}
			if v == 0 {
				blackAt++
			}
		}
	}
	if blackAt == 0 {
		t.Error("no image was cropped")
	}
	a.Black = nil
	if err := a.Augment(dst, p.Train.X.Row(0), 0, 0); err == nil {
		t.Error("an augmenter without black pixels was accepted")
	}
}
