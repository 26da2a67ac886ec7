// Tests of augmenter.go.

package lab

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/images"
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
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

// TestAnImageIsAugmentedInAGraphAsOnTheHost compares all bits, for images of three channels whose
// sides differ.
func TestAnImageIsAugmentedInAGraphAsOnTheHost(t *testing.T) {
	e, err := enginetest.OpenDevice()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	const n = 40
	a := Augmenter{Augmentation: images.Augmentation{Border: 2}, Shape: [3]int{3, 5, 7}, Black: []float64{-1.3, -0.7, 0.2}, Seed: 4}
	rng := engine.Root(1).Stream("pixels")
	x, want := array.New[float32](n, 3*5*7), array.New[float32](n, 3*5*7)
	moves := make([][]int32, n)
	flips := 0
	for i := range n {
		for k := range x.Cols {
			x.Row(i)[k] = float32(rng.NormFloat64())
		}
		if err := a.Augment(want.Row(i), x.Row(i), 3, i); err != nil {
			t.Fatal(err)
		}
		if moves[i], err = a.Moves(3, i); err != nil {
			t.Fatal(err)
		}
		flips += int(moves[i][2])
	}
	exec, err := graph.NewExec(e.Backend(), a.GraphAugment)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Call(tensors.FromFlatDataAndDimensions(x.Data, n, x.Cols), moves)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tensors.CopyFlatData[float32](out[0])
	if err != nil || !slices.Equal(got, want.Data) {
		t.Errorf("augmented in a graph, images differ: %v", err)
	}
	a.Black = a.Black[:2]
	exec = graph.MustNewExec(e.Backend(), a.GraphAugment)
	if _, err := exec.Call(tensors.FromFlatDataAndDimensions(x.Data, n, x.Cols), moves); err == nil || !strings.Contains(err.Error(), "2 black pixels for 3 channels") {
		t.Errorf("two black pixels for three channels: %v", err)
	}
	if flips == 0 || flips == n {
		t.Errorf("%d of %d images are flipped", flips, n)
	}
}
