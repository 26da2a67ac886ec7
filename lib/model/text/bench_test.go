package text

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
)

// BenchmarkMiniLMStep is a training step on 16 texts of 64 tokens, as in lethe bench text.
func BenchmarkMiniLMStep(b *testing.B) {
	const batch, steps = 16, 8 // of an epoch
	m := BERT{Tokens: 64}
	rng := seeded(1)
	texts := make([][]int, batch*steps)
	for i := range texts {
		texts[i] = make([]int, m.Tokens)
		for k := range texts[i] {
			texts[i][k] = 1000 + rng.IntN(m.VocabularySize()-1000)
		}
	}
	x, err := m.Records(texts)
	if err != nil {
		b.Fatal(err)
	}
	e, err := engine.Open("lethe")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	r, err := model.NewRunner(e, m)
	if err != nil {
		b.Fatal(err)
	}
	o := train.Objective{{X: x, Targets: []train.Target{{Loss: m.Loss(), Weight: 1}}, Augment: m.Masking(1, 103)}}
	p := model.InitialWeights(m, rng)
	c := train.Config{Epochs: b.N + 1, Batch: batch, Optimizer: nn.AdamW{LR: 5e-5, WeightDecay: 0.01}}
	progress := func(e train.Epoch) {
		if e.Epoch == 1 { // the graph is compiled by now
			b.ResetTimer()
		}
	}
	if _, _, err := train.Fit(b.Context(), r, p, o, c, train.Hooks{Progress: progress}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*steps), "s/step")
	b.ReportMetric(0, "ns/op")
}
