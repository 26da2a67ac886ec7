// Tests of questions.go.

package lab

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/text/bpe"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// A decoder that has memorised its records answers with them; it prefers right answers in other words
// only where it has read of the value.
func TestADecoderAnswersWhatItWasTrainedOn(t *testing.T) {
	s := tinyPeople()
	s.Model = text.Decoder{Tokens: 64, Predicted: 40, Layers: 1, Width: 32, Heads: 2, Dropout: new(0.0)}
	s.Fit = train.Config{Epochs: 60, Batch: 8, Optimizer: nn.AdamW{LR: 5e-3}}
	c := openCase(t, newLab(t), s)
	m, err := c.Unlearn(t.Context(), unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	right := func(part datasets.Part) int {
		answers, err := c.Ask(t.Context(), m.Weights, part)
		if err != nil {
			t.Fatal(err)
		}
		questions, err := c.Questions(part)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for k, q := range questions {
			if q.Answered(answers[k]) {
				n++
			}
		}
		return n
	}
	if of := c.Problem.Train.X.Rows; right(c.Problem.Train) < of*9/10 || right(c.Test) > c.Test.X.Rows/3 {
		t.Errorf("%d of %d answers are right, %d of %d about people that no model knows", right(c.Problem.Train), of, right(c.Test), c.Test.X.Rows)
	}
}

// The answers' log-probabilities by hand: minus the loss of a record with that answer.
func TestAnswersAreMeasuredBehindTheirQuestions(t *testing.T) {
	c := openCase(t, newLab(t), tinyPeople())
	w := c.Problem.InitialWeights(3)
	part := c.Problem.Train.Gather([]int{4, 0, 17})
	got, err := c.Answers(w, part)
	if err != nil {
		t.Fatal(err)
	}
	v, err := bpe.New(c.About.Vocabulary)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := texts.GeneratedPeople()
	if err != nil {
		t.Fatal(err)
	}
	m := c.Problem.Arch.(text.Decoder)
	byHand := func(f texts.Fact, answer string) float64 {
		given, err := v.Tokens(f.Question + "\n")
		if err != nil {
			t.Fatal(err)
		}
		follows, err := v.Tokens(answer)
		if err != nil {
			t.Fatal(err)
		}
		x, err := m.Records([]text.Passage{{Given: given, Follows: append(follows, v.End())}})
		if err != nil {
			t.Fatal(err)
		}
		losses, err := (NextToken{}).LossesOf(c.Problem, w, datasets.Part{X: x, IDs: []int{0}})
		if err != nil {
			t.Fatal(err)
		}
		return -losses[0]
	}
	document, err := numberColumn(c.Prepared, texts.ColumnDocument)
	if err != nil {
		t.Fatal(err)
	}
	for k, id := range part.IDs {
		f := facts[int(document[id])]
		if want := byHand(f, f.Paraphrase); math.Abs(got.Right[k]-want) > 1e-6 {
			t.Errorf("record %d: the right answer has %v, by hand %v", id, got.Right[k], want)
		}
		for j, wrong := range f.Wrong {
			if want := byHand(f, wrong); math.Abs(got.Wrong[k][j]-want) > 1e-6 {
				t.Errorf("record %d: wrong answer %d has %v, by hand %v", id, j, got.Wrong[k][j], want)
			}
		}
	}
	said, err := c.PredictedTexts(part)
	if err != nil {
		t.Fatal(err)
	}
	for k, id := range part.IDs {
		if want := facts[int(document[id])].Answer; said[k] != want {
			t.Errorf("record %d says %q, want %q", id, said[k], want)
		}
	}
}

func TestGroupsAreWhatTheSplitKeptTogether(t *testing.T) {
	c := openCase(t, newLab(t), tinyPeople())
	groups, unit := c.Groups()
	n := c.Problem.Train.X.Rows
	if unit != "person" || len(groups) != n+c.Test.X.Rows {
		t.Fatalf("%d groups by %q", len(groups), unit)
	}
	for _, g := range groups[:n] {
		if slices.Contains(groups[n:], g) {
			t.Errorf("group %d is in both parts", g)
		}
	}
	// Whoever belongs to nobody is alone.
	alone := *c.Problem
	data := *c.Prepared
	alone.Prepared = &data
	k := slices.IndexFunc(data.About.Columns, func(column datasets.Column) bool { return column.Name == "person" })
	data.About.Columns = slices.Clone(data.About.Columns)
	data.About.Columns[k].Codes = slices.Clone(data.About.Columns[k].Codes)
	data.About.Columns[k].Codes[data.Train.IDs[0]], data.About.Columns[k].Codes[data.Train.IDs[1]] = -1, -1
	if groups, _ := alone.Groups(); slices.Contains(groups[1:], groups[0]) || slices.Contains(groups[2:], groups[1]) {
		t.Error("records that belong to nobody share a group")
	}
	s := tinyPeople()
	d := s.Data.(Texts)
	d.GroupBy = texts.ByDocument
	s.Data = d
	if groups, _ := openCase(t, newLab(t), s).Groups(); groups != nil {
		t.Error("a split by documents has groups")
	}
}

func TestWhatAsksNothingCannotBeAsked(t *testing.T) {
	s := tinyPeople()
	d := s.Data.(Texts)
	d.Unit = texts.Windows
	s.Data = d
	c := openCase(t, newLab(t), s)
	if _, err := c.Ask(t.Context(), c.Problem.InitialWeights(0), c.Test); !errors.Is(err, ErrNoQuestions) {
		t.Errorf("windows were asked: %v", err)
	}
	if _, err := c.Answers(c.Problem.InitialWeights(0), c.Test); !errors.Is(err, ErrNoQuestions) {
		t.Errorf("windows have answers: %v", err)
	}
	if _, err := openCase(t, newLab(t), Setting{}).Ask(t.Context(), nil, datasets.Part{}); err == nil {
		t.Error("a classifier was asked")
	}
}

// A network may have room for more tokens than the vocabulary has.
func TestTokensThatAreNotInTheVocabularyAreShown(t *testing.T) {
	v, err := bpe.Learn([]string{"one two, one three: Tromsø"}, 270)
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := v.Tokens("one Tromsø")
	if err != nil {
		t.Fatal(err)
	}
	beyond := v.Size()
	for want, given := range map[string][]int{
		"": nil, "one Tromsø": tokens, "\ufffdone Tromsø": append([]int{beyond}, tokens...), "one Tromsø\ufffd\ufffd": append(slices.Clone(tokens), beyond, beyond+7),
	} {
		if got, err := decoded(v, given); err != nil || got != want {
			t.Errorf("%v is %q, want %q, %v", given, got, want, err)
		}
	}
}
