// Tests of the lenses on language models, on a decoder of the laboratory.

package audit

import (
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model/text"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// people is a small language model that memorises answers about generated people.
func people() lab.Setting {
	return lab.Setting{
		Data: lab.Texts{Set: "generated_people", Preparation: texts.Preparation{
			Tokenizer: texts.BPE, Tokens: 64, Predicted: 40, Vocabulary: 800, MaxDocuments: 120, GroupBy: texts.ByGroup}},
		Goal: lab.NextToken{}, Forget: lab.RandomGroups{Column: "person", Fraction: 0.25},
		Model: text.Decoder{Tokens: 64, Predicted: 40, Layers: 1, Width: 32, Heads: 2, Dropout: new(0.0)},
		Fit:   train.Config{Epochs: 50, Batch: 8, Optimizer: nn.AdamW{LR: 5e-3}},
	}
}

func TestLensesOnTextsReadADecoder(t *testing.T) {
	c := openCase(t, newLab(t), people())
	absent := map[string]string{}
	for _, l := range TextLenses() {
		original, err := c.Read(l, c.Original)
		if err != nil {
			t.Fatal(err)
		}
		retrained, err := c.Read(l, c.Oracle)
		if err != nil {
			t.Fatal(err)
		}
		if original.Absent != "" {
			absent[l.Name()] = original.Absent
			continue
		}
		if by := float64(original.Memory) * (original.Value - retrained.Value); original.NoEvidence.Why != "" || !(by > 0.1) {
			t.Errorf("%s: %v of the original, %v of the retrained model (%s)", l.Name(), original.Estimate, retrained.Estimate, original.NoEvidence.Why)
		}
		if l.Info().Null == NonmemberNull && original.Low <= *original.Null {
			t.Errorf("%s of the original is %v", l.Name(), original.Estimate)
		}
		if original.Clustered == nil {
			t.Errorf("%s has an interval over texts and not over people: %+v", l.Name(), original.Estimate)
		}
	}
	for lens, why := range map[string]string{
		ReCaLL{}.Name(): "no " + string(PrefixedArray), ReferenceModel{}.Name(): "no reference model", Depth{}.Name(): "no " + string(PatchedArray),
	} {
		if absent[lens] != why {
			t.Errorf("the lens %q is absent for the reason %q, want %q", lens, absent[lens], why)
		}
	}
	if len(absent) != 3 {
		t.Errorf("absent are %v", absent)
	}
}

func TestTheEvidenceOfADecoderIsOfItsRecords(t *testing.T) {
	s := people()
	s.Fit.Epochs = 1
	c := openCase(t, newLab(t), s)
	m, err := c.Variant(t.Context(), random)
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Evidence(Needs{Arrays: []Array{TokenArray, AnswerArray, CompressedArray}}, m)
	if err != nil {
		t.Fatal(err)
	}
	a := e.Models[0]
	if a.Tokens.Documents() != e.Records || len(e.Groups) != e.Records || e.GroupUnit != "person" || len(e.Compressed) != e.Records {
		t.Fatalf("%d records, %d documents, %d groups by %q, %d lengths", e.Records, a.Tokens.Documents(), len(e.Groups), e.GroupUnit, len(e.Compressed))
	}
	facts, err := texts.GeneratedPeople()
	if err != nil {
		t.Fatal(err)
	}
	fact := func(i int) texts.Fact {
		id := slices.Concat(c.Train.IDs, c.Test.IDs)[i]
		return facts[int(c.About.Columns[0].Numbers[id])] // its document
	}
	for i := range e.Records {
		for j := range i {
			if same := fact(i).Person == fact(j).Person; same != (e.Groups[i] == e.Groups[j]) {
				t.Fatalf("records %d and %d are of %s and %s, their groups %d and %d", i, j, fact(i).Person, fact(j).Person, e.Groups[i], e.Groups[j])
			}
		}
		if want, err := zlibLength(fact(i).Answer); err != nil || e.Compressed[i] != want {
			t.Errorf("record %d has %d bytes, its answer %d, %v", i, e.Compressed[i], want, err)
		}
		right, forgotten := a.Answers.Right[i], slices.Contains(c.Forget, i)
		if forgotten == math.IsNaN(right) || forgotten != (len(a.Answers.Wrong[i]) == 5) {
			t.Errorf("record %d, to be forgotten %t: %v and %v", i, forgotten, right, a.Answers.Wrong[i])
		}
	}
}

// A network of another kind has no such arrays, and says so.
func TestLensesOnTextsAreAbsentElsewhere(t *testing.T) {
	s := island()
	s.Fit.Epochs = 1
	c := openCase(t, newLab(t), s)
	for _, l := range []Lens{MinK{}, ExactMemorisation{}, TruthRatio{}, Zlib{}} {
		r, err := c.Read(l, c.Original)
		if err != nil || r.Absent == "" {
			t.Errorf("%s: %+v, %v", l.Name(), r, err)
		}
	}
	if _, err := c.Answers(c.Original.Weights, c.Train); err == nil {
		t.Error("a classifier was asked")
	}
	if _, _, err := c.Weights(t.Context(), unlearn.NoOp{}); err != nil {
		t.Error(err)
	}
}
