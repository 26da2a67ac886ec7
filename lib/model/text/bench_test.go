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
	o := train.Objective{{X: x, Targets: []train.Target{{Loss: m.Loss(), Weight: 1}}, Augment: m.Masking(1, 103)}}
	benchmarkSteps(b, m, o, batch, steps)
}

// BenchmarkSmallBERTStep is a training step of the network of RULER's tables of texts at scale hour: two
// layers of width 128 on 16 texts of 48 tokens.
func BenchmarkSmallBERTStep(b *testing.B) {
	const batch, steps = 16, 16 // of an epoch
	m := BERT{Tokens: 48, Predicted: 8, Layers: 2, Width: 128, Heads: 2, Vocabulary: 2000}
	rng := seeded(1)
	texts := make([][]int, batch*steps)
	for i := range texts {
		texts[i] = make([]int, 8+rng.IntN(m.Tokens-7))
		for k := range texts[i] {
			texts[i][k] = 100 + rng.IntN(m.VocabularySize()-100)
		}
	}
	x, err := m.Records(texts)
	if err != nil {
		b.Fatal(err)
	}
	o := train.Objective{{X: x, Targets: []train.Target{{Loss: m.Loss(), Weight: 1}}, Augment: m.Masking(1, 4)}}
	benchmarkSteps(b, m, o, batch, steps)
}

// BenchmarkDecoderStep is a training step of the decoder of 4 layers of width 256 on 32 texts of 128
// tokens of a vocabulary of 1,000, all but the first of which are predicted.
func BenchmarkDecoderStep(b *testing.B) {
	const batch, steps = 32, 4 // of an epoch
	m := Decoder{Vocabulary: 1000}
	rng := seeded(1)
	texts := make([]Passage, batch*steps)
	for i := range texts {
		for range 128 {
			texts[i].Follows = append(texts[i].Follows, rng.IntN(m.Vocabulary))
		}
	}
	x, err := m.Records(texts)
	if err != nil {
		b.Fatal(err)
	}
	in, err := m.NextInputs(x)
	if err != nil {
		b.Fatal(err)
	}
	o := train.Objective{{X: x, Targets: []train.Target{{Loss: m.Loss(), Inputs: in, Weight: 1}}}}
	benchmarkSteps(b, m, o, batch, steps)
}

// benchmarkSteps times the steps of epochs, without the first, in which the graph is compiled.
func benchmarkSteps(b *testing.B, m model.Architecture, o train.Objective, batch, steps int) {
	e, err := engine.Open("lethe")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { e.Close() })
	r, err := model.NewRunner(e, m)
	if err != nil {
		b.Fatal(err)
	}
	c := train.Config{Epochs: b.N + 1, Batch: batch, Optimizer: nn.AdamW{LR: 5e-5, WeightDecay: 0.01}}
	progress := func(e train.Epoch) {
		if e.Epoch == 1 {
			b.ResetTimer()
		}
	}
	if _, _, err := train.Fit(b.Context(), r, model.InitialWeights(m, seeded(1)), o, c, train.Hooks{Progress: progress}); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*steps), "s/step")
	b.ReportMetric(0, "ns/op")
}
