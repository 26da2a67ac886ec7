package train_test

import (
	"context"
	"os"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

func BenchmarkZZ(b *testing.B) {
	e, err := engine.Open(os.Getenv("ZZ"))
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	m := ib.Bottleneck{}
	r, err := model.NewRunner(e, m)
	if err != nil {
		b.Fatal(err)
	}
	rng := engine.Root(1).Stream("bench")
	n := 20 * 500
	x := array.New[float32](n, 784)
	for i := range x.Data {
		x.Data[i] = rng.Float32()
	}
	y := make([]int, n)
	for i := range y {
		y[i] = rng.IntN(10)
	}
	c := train.Config{Batch: 20, Optimizer: nn.Adam{}, Clip: 1, Epochs: 1}
	codes := train.Target{Loss: loss.LatentDivergence{}, Weight: 1e-3 / 49}
	o := train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, 10, 1), codes}}}
	p := m.Init(rng)
	b.ResetTimer()
	for b.Loop() {
		_, h, err := train.Fit(context.Background(), r, p, o, c, train.Hooks{})
		if err != nil {
			b.Fatal(err)
		}
		b.Log(h[0])
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/500, "us/step")
}
