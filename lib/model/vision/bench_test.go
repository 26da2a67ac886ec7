// Benchmarks of training steps.

package vision

import (
	"context"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

func openRunner(t testing.TB, arch model.Architecture) *model.Runner {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return newRunner(t, e, arch)
}

func newRunner(t testing.TB, e *engine.Engine, arch model.Architecture) *model.Runner {
	t.Helper()
	r, err := model.NewRunner(e, arch)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func weights(arch model.Architecture, seed engine.Root) nn.Params {
	return model.InitialWeights(arch, seed.Stream(engine.StreamInit))
}

// noise is a batch of random pixels with random labels.
func noise(arch model.Architecture, rows int) (array.Matrix[float32], []int) {
	rng := engine.Root(3).Stream("noise")
	x, y := array.New[float32](rows, arch.Inputs()), make([]int, rows)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	for i := range y {
		y[i] = rng.IntN(model.OutputWidths(arch)[nn.Logits])
	}
	return x, y
}

// stepsPerEpoch keeps what an epoch costs beside its steps, a copy of the state,
// as small a part as it is in use.
const stepsPerEpoch = 8

// benchmarkStep trains on a few batches again and again.
func benchmarkStep(b *testing.B, arch model.Architecture, rows int) {
	r := openRunner(b, arch)
	x, y := noise(arch, stepsPerEpoch*rows)
	o := train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, model.OutputWidths(arch)[nn.Logits], 1)}}}
	c := train.Config{Epochs: b.N + 1, Batch: rows, Optimizer: nn.SGD{LR: 0.01, Momentum: 0.9, WeightDecay: 5e-4}}
	var compiled float64
	progress := func(e train.Epoch) {
		if e.Epoch == 1 { // the graph is compiled by now
			b.ResetTimer()
			compiled = cpuSeconds()
		}
	}
	if _, _, err := train.Fit(context.Background(), r, weights(arch, 1), o, c, train.Hooks{Progress: progress}); err != nil {
		b.Fatal(err)
	}
	steps := float64(b.N * stepsPerEpoch)
	b.ReportMetric(b.Elapsed().Seconds()/steps, "s/step")
	b.ReportMetric((cpuSeconds()-compiled)/steps, "cpu-s/step")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkSmallCNNStep(b *testing.B) { benchmarkStep(b, SmallCNN{}, 64) }

func BenchmarkResNet18Step(b *testing.B) { benchmarkStep(b, ResNet18{}, 32) }

func BenchmarkAllCNNStep(b *testing.B) { benchmarkStep(b, AllCNN{}, 32) }
