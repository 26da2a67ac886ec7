// Benchmark of a round.

package federated

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/ib"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
)

// BenchmarkRound is one round of BlindU's federation on records of MNIST's shape:
// ten users of 6,000 records each, one epoch in batches of 100 with Adam, the
// paper's bottleneck with its loss. (The program's users train for ten epochs.)
func BenchmarkRound(b *testing.B) {
	const users, each, features, classes = 10, 6000, 784, 10
	e, err := enginetest.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	net := ib.Bottleneck{Features: features, Outputs: classes}
	r, err := model.NewRunner(e, net)
	if err != nil {
		b.Fatal(err)
	}
	rng := engine.Root(1).Stream("bench")
	t := table{array.New[float32](users*each, features), make([]int, users*each)}
	for i := range t.x.Data {
		t.x.Data[i] = rng.Float32()
	}
	for i := range t.y {
		t.y[i] = rng.IntN(classes)
	}
	dealt, err := IID(users*each, users, 1)
	if err != nil {
		b.Fatal(err)
	}
	work := LocalTraining(func(rows []int) (train.Objective, error) {
		y := make([]int, len(rows))
		for i, row := range rows {
			y[i] = t.y[row]
		}
		return train.Objective{{X: t.x.Gather(rows), Targets: []train.Target{
			train.CrossEntropy(y, classes, 1), {Loss: loss.LatentDivergence{}, Weight: 1e-3 / 49},
		}}}, nil
	}, train.Config{Epochs: 1, Batch: 100})
	f := Federation{Config: Config{Rounds: 1, Mean: Equally}, Users: dealt, Work: work}
	p := model.InitialWeights(net, rng)
	for b.Loop() {
		if _, _, err := Run(b.Context(), r, p, f, Hooks{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(users*each/(b.Elapsed().Seconds()/float64(b.N)), "rows/s")
}
