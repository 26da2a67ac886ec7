package fisher

import (
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/model/vae"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// thePapers is the paper's network of 7,349,984 weights with 512 cells.
func thePapers() (vae.Cells, train.Objective) {
	m := vae.Cells{}
	rng := rand.New(rand.NewPCG(1, 2))
	x, library := array.New[float32](512, 2000), array.New[float32](512, 1)
	for i := range x.Rows {
		for j := range x.Row(i) {
			if rng.Float64() < 0.1 {
				x.Row(i)[j] = float32(rng.ExpFloat64())
				library.Row(i)[0] += x.Row(i)[j]
			}
		}
	}
	return m, train.Objective{{Name: "cells", X: x, Targets: []train.Target{
		{Loss: loss.LibrarySquaredError{}, Weight: 1, Inputs: map[string]array.Matrix[float32]{loss.Target: x, loss.Library: library}},
		{Loss: loss.LatentDivergence{}, Weight: 1},
	}}}
}

// An exact pass is to cost no more than three epochs of training on as many cells.
func BenchmarkExact(b *testing.B) {
	m, o := thePapers()
	r, p := modeltest.OpenRunner(b, m), initial(m)
	for b.Loop() {
		if _, err := (Exact{}).Estimate(b.Context(), r, p, o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEpoch is one epoch of the paper's training on the same cells.
func BenchmarkEpoch(b *testing.B) {
	m, o := thePapers()
	r, p := modeltest.OpenRunner(b, m), initial(m)
	for b.Loop() {
		c := train.Config{Epochs: 1, Batch: 256, Optimizer: nn.Adam{LR: 1e-4}}
		if _, _, err := train.Fit(b.Context(), r, p, o, c, train.Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
}
