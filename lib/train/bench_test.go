package train

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
)

// BenchmarkStep is one full-batch training step of the paper's MLP on 30,000
// records of 50 features: forward, backward, dropout and Adam.
func BenchmarkStep(b *testing.B) {
	const rows, features = 30000, 50
	e, err := enginetest.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	arch := tabular.MLP{Features: features, Outputs: 2}
	r, err := model.NewRunner(e, arch)
	if err != nil {
		b.Fatal(err)
	}
	rng := engine.Root(1).Stream("bench")
	x := array.New[float32](rows, features)
	for i := range x.Data {
		x.Data[i] = float32(rng.NormFloat64())
	}
	y := make([]int, rows)
	for i := range y {
		y[i] = rng.IntN(2)
	}
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 2, 1)}}}
	p := model.InitialWeights(arch, rng)
	s := nn.NewOptimizerState(nn.Adam{}, p)
	g := newGradients(r)
	defer g.close()
	step := func() {
		_, grads, err := g.valueAndGradient(p, o, []batch{{term: 0}}, func(term, layer int) uint64 { return uint64(s.T*8 + layer) })
		if err != nil {
			b.Fatal(err)
		}
		if err := (nn.Adam{}).Step(p, grads, s, nil); err != nil {
			b.Fatal(err)
		}
	}
	step()
	for b.Loop() {
		step()
	}
	b.ReportMetric(rows/(b.Elapsed().Seconds()/float64(b.N)), "rows/s")
}

// BenchmarkModels trains 8 of RULER's MLPs on 2,560 records in batches of 256, one after another and
// by FitMany: on an engine in our memory its fits share the cores.
func BenchmarkModels(b *testing.B) {
	arch := tabular.MLP{Features: 50, Outputs: 2}
	r := openRunner(b, arch, 0)
	var all []Job
	for k := range 8 {
		x, y := toy(engine.Root(k), 2560, 50, 2)
		o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 2, 1)}}}
		all = append(all, Job{Start: model.InitialWeights(arch, engine.Root(k).Stream("init")), Plan: fixedPlan(o), Config: Config{Epochs: 5, Batch: 256, Seed: 1}})
	}
	b.Run("one after another", func(b *testing.B) {
		for b.Loop() {
			for _, j := range all {
				if _, _, err := FitPlan(b.Context(), r, j.Start, j.Plan, j.Config, j.Hooks); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			for _, f := range FitMany(b.Context(), r, all) {
				if f.Err != nil {
					b.Fatal(f.Err)
				}
			}
		}
	})
}
