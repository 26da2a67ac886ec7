// Tests that every classifier of the package must pass, and tests of Classifier.

package text

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/modeltest"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/train"
)

// tinyClassifier has the encoder of tiny.
var tinyClassifier = Classifier{Tokens: 9, Outputs: 3, Layers: 2, Width: 12, Heads: 3, Hidden: 20, Vocabulary: 30, Positions: 11}

// testedClassifiers has a small instance of every classifier of the list.
var testedClassifiers = func() (all []model.Architecture) {
	for _, f := range Classifiers() {
		a := f.New(30, 9, 3)
		if a.Name() == tinyClassifier.Name() {
			a = tinyClassifier
		}
		all = append(all, a)
	}
	return all
}()

func forEachClassifier(t *testing.T, f func(t *testing.T, r *model.Runner, p nn.Params)) {
	t.Helper()
	for _, a := range testedClassifiers {
		t.Run(a.Name(), func(t *testing.T) { f(t, modeltest.OpenRunner(t, a), weights(a, 1)) })
	}
}

// reports returns texts of 4 to 9 tokens with padding, and labels that one of their tokens tells.
// A token occurs several times in most of them.
func reports(t *testing.T, n int) (array.Matrix[float32], []int) {
	t.Helper()
	var windows [][]int
	y := make([]int, n)
	for i := range n {
		y[i] = i % 3
		tokens := sentence(i/3, 4+i%6, 12)
		tokens[1+i%2] = 20 + y[i]
		windows = append(windows, tokens)
	}
	return records(t, tiny, windows...).FirstColumns(9), y
}

func labels(y []int) map[string]array.Matrix[float32] {
	return map[string]array.Matrix[float32]{loss.Probabilities: loss.Labels(y, 3)}
}

func TestTheListMakesNetworksOfItsNames(t *testing.T) {
	names := map[string]bool{}
	for _, f := range All() {
		a := f.New(50, 16, 4)
		if a.Name() != f.Name || names[f.Name] || f.About == "" || a.Check() != nil {
			t.Errorf("%s makes %s: %v", f.Name, a.Name(), a.Check())
		}
		names[f.Name] = true
	}
	for _, f := range Classifiers() {
		a := f.New(50, 16, 4)
		if !names[f.Name] || a.Inputs() != 16 || model.OutputWidths(a)[nn.Logits] != 4 || a.(model.Classifier).Classes() != 4 {
			t.Errorf("%s takes %d tokens and returns %v", f.Name, a.Inputs(), a.Returns())
		}
		if r := defaults.Fill(a); defaults.Fill(r) != r || model.InitialWeights(r, seeded(1)).Hash() != model.InitialWeights(a, seeded(1)).Hash() {
			t.Errorf("%s with its defaults is another network", f.Name)
		}
	}
}

func TestClassifiersThatCannotBeBuiltAreNamed(t *testing.T) {
	for words, change := range map[string]func(m *Classifier){
		"bert-classifier: 1 outputs, need at least 2": func(m *Classifier) { m.Outputs = 1 },
		"bert-classifier: 0 outputs":                  func(m *Classifier) { m.Outputs = 0 },
		"records of 12 tokens, possible are 2 to 11":  func(m *Classifier) { m.Tokens = 12 },
		"records of -3 tokens":                        func(m *Classifier) { m.Tokens = -3 },
		"-2 layers":                                   func(m *Classifier) { m.Layers = -2 },
		"5 heads do not divide width 12":              func(m *Classifier) { m.Heads = 5 },
		"-3 hidden units":                             func(m *Classifier) { m.Hidden = -3 },
		"a vocabulary of 1 tokens":                    func(m *Classifier) { m.Vocabulary = 1 },
		"the padding is token 30":                     func(m *Classifier) { m.Pad = 30 },
		"dropout NaN is not":                          func(m *Classifier) { m.Dropout = new(math.NaN()) },
		"epsilon 1 is not":                            func(m *Classifier) { m.Eps = 1 },
		"is too large":                                func(m *Classifier) { m.Width, m.Heads = 120000, 1 },
	} {
		m := tinyClassifier
		change(&m)
		if err := m.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", m, err, words)
		}
	}
}

func TestAClassifierTakesItsSizesFromTheData(t *testing.T) {
	a, err := model.Fit(SmallClassifier(), model.Sizes{Features: 40, Classes: 5, Vocabulary: 700})
	if err != nil {
		t.Fatal(err)
	}
	if m := a.(Classifier); m.Inputs() != 40 || m.Classes() != 5 || m.Width != 64 || m.VocabularySize() != 700 || m.Check() != nil {
		t.Errorf("%+v", m)
	}
	for words, s := range map[string]model.Sizes{
		"has 9 features, the data have 10":                        {Features: 10, Classes: 3},
		"has 3 outputs, the data have 2":                          {Features: 9, Classes: 2},
		"the vocabulary has 31 tokens, the network 30: it is not": {Features: 9, Classes: 3, Vocabulary: 31},
	} {
		if _, err := model.Fit(tinyClassifier, s); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: error %v, want %q", s, err, words)
		}
	}
	// A small record is cheap enough for larger batches than MiniLM's.
	if small, large := SmallClassifier().MaxBatch(), (Classifier{}).MaxBatch(); small != 16 || large != 16 {
		t.Errorf("batches of %d and %d", small, large)
	}
	if m := SmallClassifier(); (Classifier{Tokens: 64, Layers: m.Layers, Width: m.Width, Heads: m.Heads}).MaxBatch() != 64 {
		t.Error("64 tokens of width 64 are not small")
	}
}

// The encoder is that of Hugging Face's BertForMaskedLM (see golden.py for its version), and the
// logits are those of the linear layer on its embedding.
func TestTheClassifiersEncoderIsHuggingFaces(t *testing.T) {
	file, err := os.ReadFile("testdata/bert.json")
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(file, &want); err != nil {
		t.Fatal(err)
	}
	g := goldenBERT
	m := Classifier{Tokens: g.Tokens, Outputs: 3, Layers: g.Layers, Width: g.Width, Heads: g.Heads, Hidden: g.Hidden, Vocabulary: g.Vocabulary, Positions: g.Positions}
	all, p := goldenWeights(), weights(m, 1)
	for i := range p[:len(p)-2] {
		if p[i].Name != all[i].Name {
			t.Fatalf("weight %d is %s, BERT's is %s", i, p[i].Name, all[i].Name)
		}
		p[i] = all[i]
	}
	x, _ := goldenRecords(t, goldenBERT, 5, clsToken, sepToken)
	pred := predict(t, modeltest.OpenRunner(t, m), p, x.FirstColumns(g.Tokens))
	for i, row := range want.CLS {
		for k, v := range row {
			if got := float64(pred.Embedding.Row(i)[8*k]); math.Abs(got-v) > 1e-5 {
				t.Errorf("number %d of record %d's embedding is %v, want %v", 8*k, i, got, v)
			}
		}
	}
}

func TestLogitsAreLinearInTheEmbedding(t *testing.T) {
	forEachClassifier(t, func(t *testing.T, r *model.Runner, p nn.Params) {
		x, _ := reports(t, 20)
		pred, err := r.PredictLayers(p, x)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(pred.Layers["logits"]) != fmt.Sprint(pred.Logits()) {
			t.Error("the layer called logits is something else")
		}
		w, b := p[len(p)-2], p[len(p)-1]
		if w.Name != "head.weight" || b.Name != "head.bias" {
			t.Fatalf("the last tensors are %s and %s", w.Name, b.Name)
		}
		for i := range x.Rows {
			for c, got := range pred.Logits().Row(i) {
				want := float64(b.Data[c])
				for j, e := range pred.Embedding.Row(i) {
					want += float64(e) * float64(w.Data[c*pred.Embedding.Cols+j])
				}
				if math.Abs(float64(got)-want) > 1e-5 {
					t.Fatalf("record %d, class %d: %v, from the embedding %v", i, c, got, want)
				}
			}
		}
	})
}

func TestReportsDoNotMixAndPaddingIsNotRead(t *testing.T) {
	forEachClassifier(t, func(t *testing.T, r *model.Runner, p nn.Params) {
		x, _ := reports(t, 70)
		all := predict(t, r, p, x)
		for _, i := range []int{0, 1, 33, 63, 64, 69} {
			one := predict(t, r, p, x.Gather([]int{i}))
			if d := differs(one.Logits().Row(0), all.Logits().Row(i)); d > 1e-5 {
				t.Errorf("the logits of record %d alone are %g apart", i, d)
			}
		}
		changed := p.Clone()
		for k := range 12 {
			changed[0].Data[k] = 100 // the embedding of [PAD]
		}
		if d := differs(predict(t, r, changed, x).Logits().Data, all.Logits().Data); d != 0 {
			t.Errorf("the embedding of [PAD] changes logits by %g", d)
		}
	})
}

func TestTheGradientOfAClassifier(t *testing.T) {
	forEachClassifier(t, func(t *testing.T, r *model.Runner, p nn.Params) {
		x, y := reports(t, 12)
		tape, library := newStep(t, r, x, labels(y)), newStep(t, r, x, labels(y))
		library.library = true
		masks := tape.drawn(4)
		for _, draws := range [][]*tensors.Tensor{nil, masks} {
			_, got := tape.gradient(p, draws)
			_, want := library.gradient(p, draws)
			if d, name := apart(p, got, want); !(d < 1e-5) {
				t.Errorf("dropout %v: %s is %g apart from the library's", draws != nil, name, d)
			}
		}
		_, grads := tape.gradient(p, masks)
		modeltest.IsSlope(t, p, grads, 2e-3, func(p nn.Params) float64 {
			loss, _ := tape.gradient(p, masks)
			return loss
		})
		plain, _ := tape.gradient(p, nil)
		for k := range masks {
			ones := make([]*tensors.Tensor, len(masks))
			for i, m := range model.RandomInputs(r.Arch) {
				flat := slices.Repeat([]float32{1}, m.Units*x.Rows)
				ones[i] = tensors.FromFlatDataAndDimensions(flat, m.Units, x.Rows)
			}
			ones[k] = masks[k]
			if got, _ := tape.gradient(p, ones); math.Abs(got-plain) < 1e-6 {
				t.Errorf("%s changes nothing", model.RandomInputs(r.Arch)[k].Name)
			}
		}
	})
}

// A record's own gradient is that of a batch of one, in its norm and in the mean of the squares.
func TestGradientsPerReportAreThoseOfABatchOfOne(t *testing.T) {
	forEachClassifier(t, func(t *testing.T, r *model.Runner, p nn.Params) {
		x, y := reports(t, 7)
		o := train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, 3, 1)}}}
		norms, err := train.GradientNorms(t.Context(), r, p, o, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := train.SquaredGradients(t.Context(), r, p, o, train.Mode{})
		if err != nil {
			t.Fatal(err)
		}
		squares := make([][]float64, len(p))
		for i := range y {
			_, grads := newStep(t, r, x.Gather([]int{i}), labels(y[i:i+1])).gradient(p, nil)
			sum := 0.0
			for j, g := range grads {
				if squares[j] == nil {
					squares[j] = make([]float64, len(g))
				}
				for k, v := range g {
					sum += v * v
					squares[j][k] += v * v / float64(len(y))
				}
			}
			if want := math.Sqrt(sum); math.Abs(norms[i]-want) > 1e-4*want {
				t.Errorf("record %d: norm %v, of a batch of one %v", i, norms[i], want)
			}
		}
		if d, name := apart(p, got, squares); !(d < 1e-4) {
			t.Errorf("squared gradients of %s are %g apart", name, d)
		}
	})
}

func TestAClassifierLearns(t *testing.T) {
	forEachClassifier(t, func(t *testing.T, r *model.Runner, _ nn.Params) {
		x, y := reports(t, 90)
		c := train.Config{Epochs: 20, Batch: 16, Seed: 1, Optimizer: nn.Adam{LR: 5e-3}}
		objective := train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, 3, 1)}}}
		var hash string
		for range 2 {
			p, history, err := train.Fit(context.Background(), r, model.InitialWeights(r.Arch, seeded(1)), objective, c, train.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			if first, last := history[0].Loss, history[len(history)-1].Loss; !(last < 0.4*first) {
				t.Errorf("loss %v at the start, %v at the end", first, last)
			}
			if hash != "" && hash != p.Hash() {
				t.Error("the same training twice gives other weights")
			}
			hash = p.Hash()
		}
	})
}

func TestClassifiersReadPublishedWeights(t *testing.T) {
	p, initial, body := weights(tinyClassifier, 1), weights(tinyClassifier, 2), weights(tiny, 3)
	own := model.StateDict(tinyClassifier, p).File(p)
	pooled := model.StateDict(tinyClassifier, p).File(p)
	pooled.Tensors = append(pooled.Tensors, float32s("bert.pooler.dense.bias", 12))
	other := edited(own, func(f *safetensors.Tensor) bool {
		if f.Name == "classifier.bias" {
			*f = float32s(f.Name, 4)
		}
		return true
	})
	for name, c := range map[string]struct {
		file    *safetensors.File
		encoder nn.Params
		head    nn.Params
		notes   []string
	}{
		"its own":         {own, p, p, nil},
		"with a pooler":   {pooled, p, initial, []string{"the pooler", "the linear layer behind the pooler", "the head keeps its initial weights"}},
		"BertForMaskedLM": {published(body), body, initial, []string{"the head for masked language modelling", "no linear layer"}},
	} {
		got, notes, err := tinyClassifier.ReadWeights(c.file, initial)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		first := len(p) - 2
		if want := append(c.encoder[:first:first], c.head[first:]...); got.Hash() != want.Hash() {
			t.Errorf("%s: other weights", name)
		}
		if len(notes) != len(c.notes) {
			t.Errorf("%s: notes %q, want %q", name, notes, c.notes)
			continue
		}
		for k, words := range c.notes {
			if !strings.Contains(notes[k], words) {
				t.Errorf("%s: note %q, want %q", name, notes[k], words)
			}
		}
	}
	if _, _, err := tinyClassifier.ReadWeights(other, initial); err == nil || !strings.Contains(err.Error(), "classifier.bias") || !strings.Contains(err.Error(), "bert-classifier of 2 layers") {
		t.Errorf("another number of classes: error %v", err)
	}
}
