package audit

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

// What does not fit the records of the evidence is named before a lens reads it.
func TestEvidenceNamesWhatDoesNotFitItsRecords(t *testing.T) {
	for words, change := range map[string]func(e *Evidence, m *Arrays){
		"Forget[1] is row 9, the evidence has 4 records":                        func(e *Evidence, _ *Arrays) { e.Forget = []int{0, 9} },
		"HeldOut[0] is row -1, the evidence has 4 records":                      func(e *Evidence, _ *Arrays) { e.HeldOut[0] = -1 },
		"Groups has 2 values, the evidence has 4 records":                       func(e *Evidence, _ *Arrays) { e.Groups = []int{1, 2} },
		`Losses of the model "unlearned" has 3 values, the evidence has 4 reco`: func(_ *Evidence, m *Arrays) { m.Losses = m.Losses[:3] },
	} {
		m := &Arrays{Name: "unlearned", Role: Unlearned, Losses: []float64{1, 2, 3, 4}}
		e := &Evidence{Records: 4, Forget: []int{0, 1}, HeldOut: []int{2, 3}, Models: []*Arrays{m}}
		change(e, m)
		if _, err := e.ReadBy(Loss{}, m); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected %q", err, words)
		}
	}
	if _, err := (&Evidence{}).ReadBy(Loss{}, nil); err == nil || !strings.Contains(err.Error(), "the arrays of the model are nil") {
		t.Error(err)
	}
}

func TestSummariseNamesLabelsThatDoNotFit(t *testing.T) {
	for words, labels := range map[string][]int{
		`1 labels for 2 outputs of the model "m"`:       {0},
		`the model "m", record 1: shadow: label 3 of 3`: {0, 3},
	} {
		x := array.New[float64](2, 3)
		if err := (&Arrays{Name: "m", Logits: true}).Summarise(&x, labels); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, expected %q", err, words)
		}
	}
}

func TestAReferenceOfNoModelIsNoEvidence(t *testing.T) {
	if r := ReferenceOf(Loss{}); r.NoEvidence.Call != CannotTell || !math.IsNaN(r.Value) || r.HasInterval() {
		t.Errorf("%+v", r)
	}
}
