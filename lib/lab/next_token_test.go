// Tests of next_token.go.

package lab

import (
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// tinyPeople is a small language model of answers about generated people.
func tinyPeople() Setting {
	return Setting{
		Data: Texts{Set: "generated_people", Preparation: texts.Preparation{
			Tokenizer: texts.BPE, Tokens: 64, Predicted: 40, Vocabulary: 500, MaxDocuments: 60, GroupBy: texts.ByGroup}},
		Goal: NextToken{}, Model: text.Decoder{Tokens: 64, Predicted: 40, Layers: 1, Width: 16, Heads: 2}, Forget: RandomGroups{Column: "person", Fraction: 0.2},
		Fit: train.Config{Epochs: 6, Batch: 8, Optimizer: nn.AdamW{LR: 5e-3}},
	}
}

// A decoder reads the State of the Union in windows and forgets a president. The original knows the
// forgotten addresses better than those of presidents whom it never read; the retrained model does not.
func TestADecoderForgetsAPresident(t *testing.T) {
	s := Setting{
		Data: Texts{Set: "sotu", Preparation: texts.Preparation{
			Tokenizer: texts.BPE, Unit: texts.Windows, Tokens: 48, Vocabulary: 500, MaxDocuments: 8, GroupBy: texts.ByGroup}},
		Goal: NextToken{}, Model: text.Decoder{Layers: 1, Width: 48, Heads: 2, Dropout: new(0.0)},
		Forget: RandomGroups{Column: "president", Fraction: 0.2},
		Fit:    train.Config{Epochs: 4, Batch: 16, Optimizer: nn.AdamW{LR: 4e-3}},
	}
	data := os.Getenv(datasets.EnvDir)
	l := newLab(t)
	t.Setenv(datasets.EnvDir, data)
	c, err := l.Case(t.Context(), s)
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	gap := func(m unlearn.Method) float64 {
		model, err := c.Unlearn(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		losses, err := c.Losses(model)
		if err != nil {
			t.Fatal(err)
		}
		heldOut, err := stats.Mean(losses.HeldOut)
		if err != nil {
			t.Fatal(err)
		}
		forgotten, err := stats.Mean(losses.Forgotten)
		if err != nil {
			t.Fatal(err)
		}
		return heldOut - forgotten
	}
	original, retrained := gap(unlearn.NoOp{}), gap(unlearn.Retrain{})
	t.Logf("%d windows to forget, %d retained; held-out less forgotten loss: %.3f, retrained %.3f", len(c.Forget), len(c.Retain), original, retrained)
	if !(original > retrained+0.05) {
		t.Errorf("held-out less forgotten loss is %v, of the retrained model %v", original, retrained)
	}
}

// The training lowers the loss of a record, which is that of the network's objective.
func TestADecoderLearnsAndItsLossIsTheNetworks(t *testing.T) {
	l := newLab(t)
	c := openCase(t, l, tinyPeople())
	m, err := c.Unlearn(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{0, 5, 9, 30}
	some := c.Problem.Train.Gather(rows)
	before, err := (NextToken{}).LossesOf(c.Problem, c.Problem.InitialWeights(0), some)
	if err != nil {
		t.Fatal(err)
	}
	after, err := (NextToken{}).LossesOf(c.Problem, m.Weights, some)
	if err != nil {
		t.Fatal(err)
	}
	var fell, mean float64
	for i := range before {
		fell += (before[i] - after[i]) / 4
		mean += after[i] / 4
	}
	if fell < 1 || math.Abs(before[0]-math.Log(500)) > 0.5 {
		t.Errorf("losses %v, after the training %v", before, after)
	}
	o, err := (NextToken{}).Objective(c.Problem, rows)
	if err != nil {
		t.Fatal(err)
	}
	want, err := train.Evaluate(t.Context(), c.Runner, m.Weights, o)
	if err != nil || math.Abs(mean-want) > 1e-4 {
		t.Errorf("the mean loss is %v, the objective %v (%v)", mean, want, err)
	}
	losses, err := c.Losses(m)
	if err != nil || len(losses.Forgotten) != len(c.Forget) || len(losses.Retained) != len(c.Retain) || len(losses.HeldOut) != len(c.EvalRows()) {
		t.Errorf("%d, %d and %d losses, %v", len(losses.Forgotten), len(losses.Retained), len(losses.HeldOut), err)
	}
}

// Forget and retain must not be exchanged: a training on the retained records alone leaves the
// forgotten ones with the larger loss.
func TestARetrainedDecoderHasNotReadTheForgotten(t *testing.T) {
	l := newLab(t)
	s := tinyPeople()
	s.Fit.Epochs = 60
	c := openCase(t, l, s)
	m, err := c.Unlearn(t.Context(), unlearn.Retrain{})
	if err != nil {
		t.Fatal(err)
	}
	losses, err := c.Losses(m)
	if err != nil {
		t.Fatal(err)
	}
	mean := func(x []float64) float64 {
		var sum float64
		for _, v := range x {
			sum += v / float64(len(x))
		}
		return sum
	}
	if f, r := mean(losses.Forgotten), mean(losses.Retained); f < 1.3*r {
		t.Errorf("the retrained model has loss %v on the forgotten and %v on the retained records", f, r)
	}

	// The same from a decoder's tokens, by the metrics of language models.
	measured, err := text.Measure(c.Runner, m.Weights, c.Problem.Train.Gather(append(slices.Clone(c.Retain), c.Forget...)).X)
	if err != nil {
		t.Fatal(err)
	}
	tokens := language.Tokens(*measured)
	if base, err := tokens.Base(); err != nil || base.Suspected != 0 || base.Certain {
		t.Errorf("a decoder's logarithms are natural, and yet: %+v, %v", base, err)
	}
	for _, score := range []language.Score{language.Loss{}, language.Probability{}, language.MinK{}, language.MinKPlusPlus{}, language.ExactMemorisation{}} {
		x, err := score.Scores(language.Evidence{Target: &tokens})
		if err != nil {
			t.Fatal(err)
		}
		if score.Name() == (language.Loss{}).Name() && math.Abs(x[0]+losses.Retained[0]) > 1e-9 {
			t.Errorf("the score of a record is %v, its loss %v", x[0], losses.Retained[0])
		}
		if auc, err := stats.AUC(x[:len(c.Retain)], x[len(c.Retain):]); err != nil || auc < 0.8 {
			t.Errorf("%s: AUC %v of retained against forgotten records, %v", score.Name(), auc, err)
		}
	}
}

func TestTokensOfTheOtherKindAreRefused(t *testing.T) {
	l := newLab(t)
	for words, change := range map[string]func(s *Setting){
		"gpt-2 predicts the next token, and the records are of WordPiece": func(s *Setting) {
			s.Data = Texts{Set: "generated_people", Preparation: texts.Preparation{Tokens: 64, Predicted: 40, Vocabulary: 500}}
		},
		"bert-classifier reads whole texts, and the records are of the tokenizer bpe": func(s *Setting) {
			s.Model, s.Goal = text.Classifier{Layers: 1, Width: 8, Heads: 2}, nil
		},
		"the vocabulary has 500 tokens, the network 400": func(s *Setting) {
			s.Model = text.Decoder{Tokens: 64, Predicted: 40, Layers: 1, Width: 16, Heads: 2, Vocabulary: 400}
		},
		"takes 64 tokens and 63 positions": func(s *Setting) { s.Model = text.Decoder{Tokens: 64, Layers: 1, Width: 16, Heads: 2} },
		"question, text and end have": func(s *Setting) {
			s.Data = Texts{Set: "generated_people", Preparation: texts.Preparation{Tokenizer: texts.BPE, Tokens: 9}}
		},
	} {
		s := tinyPeople()
		change(&s)
		c, err := l.Case(t.Context(), s)
		if err == nil {
			_, err = c.Unlearn(t.Context(), unlearn.NoOp{})
		}
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want %q", err, words)
		}
	}
	other := tinyPeople()
	other.Goal, other.Data, other.Model, other.Forget = NextToken{}, tinyTexts().Data, tinyBERT(), tinyTexts().Forget
	c, err := l.Case(t.Context(), other)
	if err == nil {
		_, err = c.Unlearn(t.Context(), unlearn.NoOp{})
	}
	if err == nil || !strings.Contains(err.Error(), "the network bert does not predict the next token") {
		t.Errorf("another network: %v", err)
	}
}

// What a person's records are named by does not depend on how the network is written down.
func TestADecodersSizesAreThoseOfTheData(t *testing.T) {
	l := newLab(t)
	c := openCase(t, l, tinyPeople())
	d := c.Problem.Arch.(text.Decoder)
	if d.Vocabulary != 500 || d.Tokens != 64 || d.Predicted != 40 || model.OutputWidths(d)[loss.NextLogits] != 500*40 {
		t.Errorf("%+v", d)
	}
	people := map[float64]bool{}
	k := slices.IndexFunc(c.About.Columns, func(column datasets.Column) bool { return column.Name == "person" })
	for _, row := range c.Forget {
		people[cellNumber(c.About.Columns[k], c.Problem.Train.IDs[row])] = true
	}
	for _, row := range c.Retain {
		if people[cellNumber(c.About.Columns[k], c.Problem.Train.IDs[row])] {
			t.Errorf("row %d is retained, and others of its person are forgotten", row)
		}
	}
}
