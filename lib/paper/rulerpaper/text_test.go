package rulerpaper

// Tests of the tables on texts.

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
)

// As published some forgotten document stays as a copy; grouped none does. M4 of all forgotten
// records is the mean of that of the records with a copy and of the others.
func TestCopiesStayAsPublishedAndNotWhenTheyAreForgottenTogether(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	studies, err := textStudies(t.Context(), tiny())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range studies {
		c, err := e.Collect(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(s.Variants) * len(s.Seeds) * len(s.Fractions); len(c.Rows) != n {
			t.Errorf("%s: %d rows, want %d", s.Name, len(c.Rows), n)
		}
		for _, r := range c.Rows {
			if r.WithCopy+r.Without != r.Forget || r.Documents == 0 {
				t.Fatalf("%s: %d records with and %d without a copy of %d", s.Name, r.WithCopy, r.Without, r.Forget)
			}
			if copies := r.InRetain > 0; copies != (s.GroupBy == texts.ByDocument) {
				t.Errorf("%s: %d of %d forgotten documents keep a copy", s.Name, r.InRetain, r.Documents)
			}
			want := (float64(r.WithCopy)*r.M4WithCopy + float64(r.Without)*r.M4Without) / float64(r.Forget)
			if math.Abs(r.M4-want) > 1e-12 {
				t.Errorf("%s, %s: M4 is %v, of its parts %v", s.Name, r.Variant, r.M4, want)
			}
			if r.ForgetLoss <= 0 || r.RetainLoss <= 0 || r.TestLoss <= 0 || r.MIA == 0 {
				t.Errorf("%s, %s: losses %v, %v, %v, attack %v", s.Name, r.Variant, r.ForgetLoss, r.RetainLoss, r.TestLoss, r.MIA)
			}
		}
	}
}

func TestTablesOfTextsSayWhatDiffersFromThePaper(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	for _, r := range []Recipe{textRecipe, textCopies} {
		out, err := r.Run(t.Context(), e, tiny())
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(out.Table.Notes, "\n")
		for _, words := range []string{
			"a BERT of 1 layer and width 8 that begins with random weights", "20 % of the documents", "40 documents, drawn with all of their copies, of generated_reports", "at most 12 tokens", "2 epochs at 0.001; the paper's 3 epochs at 2e-05",
			"SCRUB and Bad Teacher", "at most 120 tokens, is learned", "2 seeds; the paper has 5", "Generated data stand in for published texts",
		} {
			if !strings.Contains(notes, words) {
				t.Errorf("%s: no note has %q: %s", r.ID, words, notes)
			}
		}
		var csv bytes.Buffer
		if err := out.Records().CSV(&csv); err != nil || !strings.Contains(csv.String(), "n_in_retain") {
			t.Errorf("%s: the runs have no copies (%v)", r.ID, err)
		}
	}
	paper, err := ScaleByName("paper")
	if err != nil {
		t.Fatal(err)
	}
	studies, err := textStudies(t.Context(), paper)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(textNotes(&Collected{Study: studies[0]}), "\n")
	for _, words := range []string{"Bio_ClinicalBERT, as in the paper", "All documents of mtsamples", "Training as in the paper: 3 epochs at 2e-05", "before the training on these texts"} {
		if !strings.Contains(notes, words) {
			t.Errorf("no note at the paper's scale has %q: %s", words, notes)
		}
	}
	if strings.Contains(notes, "seeds; the paper") || strings.Contains(notes, "is learned") {
		t.Errorf("notes at the paper's scale: %s", notes)
	}
}

// Listing needs no file; running without the weights or the texts says which file is missing.
func TestTextsWithoutFilesAreListedAndNotRun(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	for _, name := range []string{"hour", "standard", "paper"} {
		s, err := ScaleByName(name)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := textRecipe.Jobs(t.Context(), e, s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, j := range jobs {
			if !j.Missing || j.Done {
				t.Fatalf("%s: %+v", name, j)
			}
		}
		if _, err := textRecipe.Run(t.Context(), e, s); !errors.Is(err, datasets.ErrMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
