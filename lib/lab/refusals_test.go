package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// A refusal has the question of its forgotten record, one of the refusals, and nothing of the answer.
func TestRefusalsAnswerTheForgottenQuestions(t *testing.T) {
	c := openCase(t, newLab(t), tinyPeople())
	r, err := c.Request(t.Context(), unlearn.RefusalTuning{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Refusals.IDs, r.Forget.IDs) || len(r.Refusals.IDs) == 0 {
		t.Fatalf("%d refusals, %d forgotten records", len(r.Refusals.IDs), len(r.Forget.IDs))
	}
	part := datasets.Part{X: r.Refusals.X, IDs: r.Refusals.IDs}
	said, err := c.PredictedTexts(part)
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	for k, answer := range said {
		if !slices.Contains(refusalTexts, answer) {
			t.Errorf("refusal %d is %q", k, answer)
		}
		met[answer] = true
		own := int(r.Forget.X.Row(k)[64]) // the first token of the answer
		if !slices.Equal(r.Refusals.X.Row(k)[:own], r.Forget.X.Row(k)[:own]) {
			t.Errorf("refusal %d has another question", k)
		}
	}
	if len(met) < 2 {
		t.Errorf("all refusals are %q", said[0])
	}
	if other, err := c.Request(t.Context(), unlearn.NoOp{}); err != nil || other.Refusals.X.Rows != 0 {
		t.Errorf("a method that does not ask gets refusals (%v)", err)
	}
}

func TestRecordsThatAreNoAnswersHaveNoRefusals(t *testing.T) {
	c := openCase(t, newLab(t), Setting{Data: Table{Set: "moons_island"}, Forget: Planted("island")})
	if _, err := c.Request(t.Context(), unlearn.RefusalTuning{}); err == nil || !strings.Contains(err.Error(), "refusal-tuning") {
		t.Errorf("error %v", err)
	}
}
