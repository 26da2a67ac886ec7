// Tests on the published files, where they are.

package texts

import (
	"errors"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

func loadOrSkip(t *testing.T, name string) *Texts {
	t.Helper()
	s, err := Load(t.Context(), name)
	if errors.Is(err, datasets.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Expected: counted with Python's csv and re, splitting at (?<=[.!?])\s+.
func TestMTSamplesHaveTheCountedTextsAndSentences(t *testing.T) {
	s := loadOrSkip(t, "mtsamples")
	first, shared, sentences := s.firstCopies(), 0, 0
	sizes := map[int]int{}
	for _, f := range first {
		sizes[f]++
	}
	for _, f := range first {
		shared += oneIf(sizes[f] > 1)
	}
	for _, d := range s.Documents {
		sentences += len(SplitSentences(d.Text))
	}
	if len(sizes) != 2357 || sentences != 150235 {
		t.Errorf("%d distinct texts and %d sentences, want 2,357 and 150,235", len(sizes), sentences)
	}
	if share := float64(shared) / float64(len(first)); share < 0.957 || share > 0.959 {
		t.Errorf("%.4f of the documents share their text, want 0.958", share)
	}
}

func TestAddressesBelongToPresidents(t *testing.T) {
	s := loadOrSkip(t, "sotu")
	people := map[string]int{}
	for _, d := range s.Documents {
		people[d.Group]++
	}
	if people["george washington"] != 7 || people["franklin d roosevelt"] != 12 || len(people) != 43 {
		t.Errorf("%d presidents, %v", len(people), people)
	}
}
