// Tests of masked_language.go, of text data and of forget sets of groups.

package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/store/safetensors"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// tinyTexts is a small masked language model of generated reports.
func tinyTexts() Setting {
	return Setting{
		Data: Texts{Set: "generated_reports", Preparation: texts.Preparation{Tokens: 12, Predicted: 2, Vocabulary: 120, MaxDocuments: 24}},
		Goal: MaskedLanguage{}, Model: tinyBERT(), Forget: RandomGroups{Column: texts.ColumnDocument, Fraction: 0.2},
		Fit: train.Config{Epochs: 3, Batch: 16, Optimizer: nn.AdamW{LR: 2e-3}},
	}
}

func tinyBERT() text.BERT {
	return text.BERT{Tokens: 12, Predicted: 2, Layers: 1, Width: 8, Heads: 2, Vocabulary: 120, Positions: 16}
}

func TestADocumentIsForgottenAsAWhole(t *testing.T) {
	l := newLab(t)
	for _, column := range []string{texts.ColumnDocument, texts.ColumnText, "patient"} {
		s := tinyTexts()
		s.Forget = RandomGroups{Column: column, Fraction: 0.2}
		c := openCase(t, l, s)
		k := slices.IndexFunc(c.About.Columns, func(c datasets.Column) bool { return c.Name == column })
		value := func(row int) float64 { return cellNumber(c.About.Columns[k], c.Problem.Train.IDs[row]) }
		groups, kept := map[float64]bool{}, map[float64]bool{}
		for _, row := range c.Forget {
			groups[value(row)] = true
		}
		for _, row := range c.Retain {
			kept[value(row)] = true
			if groups[value(row)] {
				t.Errorf("row %d is retained, others of its %s are forgotten", row, column)
			}
		}
		if want := math.Round(0.2 * float64(len(groups)+len(kept))); float64(len(groups)) != want {
			t.Errorf("%d of %d groups by %s are forgotten, want %v", len(groups), len(groups)+len(kept), column, want)
		}
	}
	other := tinyTexts()
	other.Forget = RandomGroups{Column: texts.ColumnDocument, Fraction: 0.2, Seed: 7}
	if slices.Equal(openCase(t, l, tinyTexts()).Forget, openCase(t, l, other).Forget) {
		t.Error("another seed draws the same documents")
	}
	other.Forget = RandomGroups{Column: "moon"}
	if _, err := l.Case(t.Context(), other); err == nil || !strings.Contains(err.Error(), `there is no column "moon"`) {
		t.Errorf("an unknown column: %v", err)
	}
}

func TestANamedDocumentIsTrainedOn(t *testing.T) {
	l := newLab(t)
	plain := openCase(t, l, tinyTexts())
	held := int(plain.About.Columns[0].Numbers[plain.Test.IDs[0]])
	s := tinyTexts()
	named, err := WhereText(fmt.Sprintf("document=%d", held))
	if err != nil {
		t.Fatal(err)
	}
	s.Forget = named
	c := openCase(t, l, s)
	got, err := DocumentsOf(c.Prepared, valuesOf(c.Problem.Train.IDs, c.Forget))
	if err != nil || !slices.Equal(got, []int{held}) {
		t.Errorf("documents %v are forgotten, want %d (%v)", got, held, err)
	}
	if n := len(plain.Test.IDs) - len(c.Test.IDs); n != len(c.Forget) {
		t.Errorf("%d records left the test part, %d are forgotten", n, len(c.Forget))
	}
	if _, err := DocumentsOf(c.Prepared, []int{100000}); err == nil {
		t.Error("record 100000 has a document")
	}
}

func valuesOf(ids, rows []int) (out []int) {
	for _, r := range rows {
		out = append(out, ids[r])
	}
	return out
}

// The training lowers the loss of a record, which is a number of the record: the same twice, and
// that of the network's own loss.
func TestALanguageModelLearnsAndItsLossIsTheNetworks(t *testing.T) {
	l := newLab(t)
	s := tinyTexts()
	s.Fit.Epochs = 12
	c := openCase(t, l, s)
	m, err := c.Unlearn(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	some := c.Problem.Train.Gather([]int{0, 5, 9, 30})
	before, err := (MaskedLanguage{}).LossesOf(c.Problem, c.Problem.InitialWeights(0), some)
	if err != nil {
		t.Fatal(err)
	}
	after, err := (MaskedLanguage{}).LossesOf(c.Problem, m.Weights, some)
	if err != nil {
		t.Fatal(err)
	}
	again, err := (MaskedLanguage{}).LossesOf(c.Problem, m.Weights, c.Problem.Train.Gather([]int{9, 30, 5}))
	if err != nil || again[0] != after[2] || again[2] != after[1] {
		t.Errorf("losses %v, in another order %v (%v)", after, again, err)
	}
	var fell float64
	for i := range before {
		fell += before[i] - after[i]
	}
	if fell < 1 {
		t.Errorf("losses %v, after the training %v", before, after)
	}
	// The mean is that of the objective in the same masking.
	masking, err := (MaskedLanguage{}).masking(c.Problem, evaluationSeed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := train.Evaluate(t.Context(), c.Runner, m.Weights, train.Objective{{
		Name: "texts", X: some.X, IDs: some.IDs, Augment: masking, Targets: []train.Target{{Loss: tinyBERT().Loss(), Weight: 1}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got := (after[0] + after[1] + after[2] + after[3]) / 4; math.Abs(got-want) > 1e-4 {
		t.Errorf("the mean loss is %v, the network's %v", got, want)
	}
	losses, err := c.Losses(m)
	if err != nil || len(losses.Forgotten) != len(c.Forget) || len(losses.Retained) != len(c.Retain) || len(losses.HeldOut) != len(c.EvalRows()) {
		t.Errorf("%d, %d and %d losses, %v", len(losses.Forgotten), len(losses.Retained), len(losses.HeldOut), err)
	}
	o, err := m.Outputs()
	if err != nil || o.Train.Embedding.Cols != 8 || len(o.Train.Outputs[loss.MaskedLogits].Data) != 0 {
		t.Errorf("the outputs have %d scores (%v)", len(o.Train.Outputs[loss.MaskedLogits].Data), err)
	}
}

// loss of one record by hand: two positions, of which the second has no weight.
func TestMaskedLossIsTheCrossEntropyOfThePositions(t *testing.T) {
	// Scores of the tokens 0, 1, 2 at position 0: 1, 2, 4.
	got := maskedLoss([]float32{1, 9, 2, -9, 4, 0}, 3, []float32{1, 2}, []float32{1, 0})
	if want := math.Log(math.Exp(1)+math.Exp(2)+math.Exp(4)) - 2; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestEveryGeneralMethodRunsOnALanguageModel(t *testing.T) {
	l := newLab(t)
	c := openCase(t, l, tinyTexts())
	hashes := map[string]string{}
	for _, m := range []unlearn.Method{
		unlearn.NoOp{}, unlearn.Retrain{}, unlearn.SecondOracle, unlearn.RandomWeights{}, unlearn.GradientAscent{LR: 1e-3, Epochs: 1},
		unlearn.GradientAscent{LR: 1e-3, Epochs: 1, WeightDecay: 0.5}, unlearn.FineTuning{LR: 1e-3, Epochs: 1}, unlearn.FineTuning{LR: 1e-3, Epochs: 1, WeightDecay: 0.5},
		unlearn.NegGrad{LR: 1e-3, Epochs: 1}, unlearn.NegGrad{LR: 1e-3, Epochs: 1, Batched: true}, unlearn.NegGrad{LR: 1e-3, Epochs: 1, Batched: true, WeightDecay: 0.5},
		unlearn.SCRUB{LR: 1e-3, Epochs: 1, Batched: true}, unlearn.BadTeacher{LR: 1e-3, Epochs: 1, Batched: true},
	} {
		got, err := c.Unlearn(t.Context(), m)
		if err != nil {
			t.Errorf("%#v: %v", m, err)
			continue
		}
		if other, twice := hashes[got.Weights.Hash()]; twice {
			t.Errorf("%#v leaves the weights of %s", m, other)
		}
		hashes[got.Weights.Hash()] = m.Info().Name
	}
	for _, m := range []unlearn.Method{unlearn.SCRUBKurmanji{}, unlearn.RandomLabel{}} {
		if _, err := c.Unlearn(t.Context(), m); err == nil || !strings.Contains(err.Error(), "needs a classifier and its labels") {
			t.Errorf("%s: %v", m.Info().Name, err)
		}
	}
}

func TestATrainingOnTextsResumes(t *testing.T) {
	l := newLab(t)
	c := openCase(t, l, tinyTexts())
	ctx, stop := context.WithCancel(t.Context())
	tr := c.training(c.Original())
	var saved *train.State
	hooks := train.Hooks{SaveEvery: 1, Save: func(s *train.State) error {
		if saved = s; s.Done == 1 {
			stop()
		}
		return nil
	}}
	if _, _, err := tr.fitModel(ctx, tr.initialWeights(), tr.Fit, hooks); !errors.Is(err, context.Canceled) || saved == nil || saved.Done != 1 {
		t.Fatalf("stopped: %v", err)
	}
	p, _, err := tr.fitModel(t.Context(), tr.initialWeights(), tr.Fit, train.Hooks{Resume: saved})
	if err != nil {
		t.Fatal(err)
	}
	if want := originalOf(t, c); p.Hash() != want.Hash() {
		t.Error("it goes on to other weights")
	}
}

func TestTextsThatAreNotTheNetworksAreRefused(t *testing.T) {
	l := newLab(t)
	vocabulary := filepath.Join(t.TempDir(), "vocab.txt")
	if err := os.WriteFile(vocabulary, []byte("[UNK]\n[PAD]\n[CLS]\n[SEP]\n[MASK]\na\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long, tokens := filepath.Join(t.TempDir(), "vocab.txt"), "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
	for i := range 125 {
		tokens += fmt.Sprintf("t%d\n", i)
	}
	if err := os.WriteFile(long, []byte(tokens), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, change := range map[string]func(*Setting){
		"the vocabulary has 120 tokens, the network 100": func(s *Setting) {
			m := tinyBERT()
			m.Vocabulary = 100
			s.Model = m
		},
		long + ": bert: the vocabulary has 130 tokens, the network 120": func(s *Setting) {
			d := s.Data.(Texts)
			d.Vocabulary, d.VocabularyFile = 0, long
			s.Data = d
		},
		"[PAD] is token 1 of the vocabulary, the network takes token 0": func(s *Setting) {
			d := s.Data.(Texts)
			d.Vocabulary, d.VocabularyFile = 0, vocabulary
			s.Data = d
		},
		"takes 12 tokens and 2 positions to predict, the data have 20 features": func(s *Setting) {
			d := s.Data.(Texts)
			d.Tokens = 18
			s.Data = d
		},
		"has no head for masked language modelling": func(s *Setting) { s.Model = nil },
		"the data have no vocabulary":               func(s *Setting) { s.Data, s.Model = Table{}, bertFor(30) },
		"changes the records itself":                func(s *Setting) { s.Augment = true },
		"records of 600 tokens": func(s *Setting) {
			s.Data = Texts{Set: "generated_reports", Preparation: texts.Preparation{Tokens: 600}}
		},
		"it is not of this kind": func(s *Setting) { s.Data = Texts{Set: "glyphs"} },
		"no such file": func(s *Setting) {
			s.Model = text.Pretrained{BERT: tinyBERT(), Path: filepath.Join(t.TempDir(), "x.safetensors")}
		},
	} {
		s := tinyTexts()
		change(&s)
		if _, err := l.Case(t.Context(), s); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
}

// A training of a pretrained network begins with the file's weights, the original's and the oracle's: a rate
// that is next to nothing leaves them where they were. So does a network of another module.
func TestATrainingBeginsWithPretrainedWeights(t *testing.T) {
	l := newLab(t)
	file := model.InitialWeights(tinyBERT(), engine.Root(77).Stream(engine.StreamInit))
	m := text.Pretrained{BERT: tinyBERT(), Path: filepath.Join(t.TempDir(), "published.safetensors")}
	err := safetensors.Write(m.Path, model.StateDict(tinyBERT(), file).File(file))
	if err == nil {
		m.SHA256, err = text.FileSHA256(m.Path)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := tinyTexts()
	s.Model, s.Fit.Epochs, s.Fit.Optimizer = m, 1, nn.SGD{LR: 1e-9}
	c := openCase(t, l, s)
	for _, spec := range []ModelSpec{c.Original(), c.Oracle()} {
		got, err := c.TrainedModel(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got.Final {
			for k := range v.Data {
				if d := math.Abs(float64(v.Data[k] - file[i].Data[k])); !(d < 1e-6) {
					t.Fatalf("%v: %s is %g away from the file's after a training at rate 1e-9", spec, v.Name, d)
				}
			}
		}
	}
}

func bertFor(features int) text.BERT {
	m := tinyBERT()
	m.Tokens, m.Predicted, m.Positions = features-2, 2, features
	return m
}

func TestKeysOfTextsAreThoseOfTheirContent(t *testing.T) {
	l := newLab(t)
	key := func(s Setting) string {
		c := openCase(t, l, s)
		id, err := l.TrainKey(c.training(c.Original())).ID()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := key(tinyTexts())
	if again := key(tinyTexts()); again != first {
		t.Error("the key is another the second time")
	}
	for what, change := range map[string]func(*Setting){
		"tokens":     func(s *Setting) { d := s.Data.(Texts); d.MaxDocuments = 30; s.Data = d },
		"group":      func(s *Setting) { d := s.Data.(Texts); d.GroupBy = texts.ByText; s.Data = d },
		"vocabulary": func(s *Setting) { d := s.Data.(Texts); d.Vocabulary = 110; s.Data = d },
		"rate":       func(s *Setting) { s.Goal = MaskedLanguage{Rate: 0.3} },
	} {
		s := tinyTexts()
		change(&s)
		if key(s) == first {
			t.Errorf("the key does not depend on %s", what)
		}
	}
	if p, q := defaults.Fill(MaskedLanguage{}), (MaskedLanguage{Rate: 0.15}); p != Goal(q) {
		t.Errorf("%v", p)
	}
}
