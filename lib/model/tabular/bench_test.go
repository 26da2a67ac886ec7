// Benchmarks of training steps and per-example gradients.

package tabular_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/train"
)

// BenchmarkMiniBatchStep is one Adam step of the paper's Table 12: 256 records
// of 14 features (Adult) or 8 (Electricity), forward, backward and dropout.
func BenchmarkMiniBatchStep(b *testing.B) {
	for _, family := range tabular.All() {
		for _, features := range []int{14, 8} {
			b.Run(fmt.Sprintf("%s/%d", family.Name, features), func(b *testing.B) {
				benchmarkStep(b, family.New(features, 2))
			})
		}
	}
}

func benchmarkStep(b *testing.B, arch model.Architecture) {
	const batch, steps = 256, 4
	e, err := enginetest.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	r, err := model.NewRunner(e, arch)
	if err != nil {
		b.Fatal(err)
	}
	rng := engine.Root(1).Stream("bench")
	x, y := array.New[float32](batch*steps, arch.Inputs()), make([]int, batch*steps)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		y[i] = rng.IntN(2)
	}
	o := train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, 2, 1)}}}
	p := model.InitialWeights(arch, rng)
	fit := func(epochs int) {
		c := train.Config{Epochs: epochs, Batch: batch, Seed: 1}
		if _, _, err := train.Fit(context.Background(), r, p, o, c, train.Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
	fit(1)
	b.ResetTimer()
	fit(b.N)
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*steps), "ms/step")
}

// BenchmarkPerExample is the squared gradients of 256 records of 14 features and 2 classes.
func BenchmarkPerExample(b *testing.B) {
	for _, family := range tabular.All() {
		b.Run(family.Name, func(b *testing.B) {
			e, err := enginetest.Open()
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close()
			arch := family.New(14, 2)
			r, err := model.NewRunner(e, arch)
			if err != nil {
				b.Fatal(err)
			}
			rng := engine.Root(1).Stream("bench")
			x := array.New[float32](256, 14)
			for i := range x.Data {
				x.Data[i] = float32(rng.NormFloat64())
			}
			p, o := model.InitialWeights(arch, rng), train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(make([]int, x.Rows), 2, 1)}}}
			call := func() {
				if _, err := train.SquaredGradients(b.Context(), r, p, o, train.Mode{}); err != nil {
					b.Fatal(err)
				}
			}
			call()
			for b.Loop() {
				call()
			}
		})
	}
}
