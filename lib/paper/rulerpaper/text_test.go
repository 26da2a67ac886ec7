package rulerpaper

// Tests of the tables on texts.

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
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
	for _, of := range []struct {
		Recipe
		own, others []string
	}{
		{textRecipe, []string{"20 % of the documents", "SCRUB and Bad Teacher", "2 seeds; the paper has 5"}, nil},
		{textCopies, []string{"M4 searches all retained records", "2 seeds; the paper has 5"}, // the paper's fractions, and no method
			[]string{"SCRUB", "at most 2000 of the retained records", "of the documents are forgotten"}},
	} {
		r := of.Recipe
		out, err := r.Run(t.Context(), e, tiny())
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(out.Table.Notes, "\n")
		for _, words := range append(of.own, "a BERT of 1 layer and width 8 that begins with random weights",
			"40 documents, drawn with all of their copies, of generated_reports", "at most 12 tokens", "2 epochs at 0.001; the paper's 3 epochs at 2e-05",
			"at most 120 tokens, is learned", "Generated data stand in for published texts") {
			if !strings.Contains(notes, words) {
				t.Errorf("%s: no note has %q: %s", r.ID, words, notes)
			}
		}
		for _, words := range of.others {
			if strings.Contains(notes, words) {
				t.Errorf("%s: a note has %q: %s", r.ID, words, notes)
			}
		}
		var csv bytes.Buffer
		if err := out.Records().CSV(&csv); err != nil || !strings.Contains(csv.String(), "n_in_retain") {
			t.Errorf("%s: the runs have no copies (%v)", r.ID, err)
		}
	}
	full, err := ScaleByName("paper")
	if err != nil {
		t.Fatal(err)
	}
	studies, err := textStudies(t.Context(), full)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(textNotes(&Collected{Study: studies[0]}), "\n")
	for _, words := range []string{"Bio_ClinicalBERT, as in the paper", "All documents of mtsamples", "Training as in the paper: 3 epochs at 2e-05", "before the training on these texts",
		"What the file of weights lacks is not known"} {
		if !strings.Contains(notes, words) {
			t.Errorf("no note at the paper's scale has %q: %s", words, notes)
		}
	}
	if strings.Contains(notes, "seeds; the paper") || strings.Contains(notes, "is learned") {
		t.Errorf("notes at the paper's scale: %s", notes)
	}
}

// A row has M4 of all forgotten records, with its interval over seeds, and of its two parts, of the original
// before the oracle.
func TestTheTableOfCopiesReadsOriginalsBeforeOracles(t *testing.T) {
	row := func(variant string, seed int, m4, with, without, loss, test float64) Row {
		return Row{Variant: variant, Fraction: 0.05, Seed: seed, M4: m4, TextEvidence: &TextEvidence{Documents: 4, InRetain: 3, InTest: 1, WithCopy: 6,
			Without: 2, M4WithCopy: with, M4Without: without, ForgetLoss: loss, TestLoss: test}}
	}
	c := &Collected{Study: Study{Name: "texts " + asPublished}, Evidence: paper.Evidence[Row]{Rows: []Row{
		row(NoOp, 0, 0.2, 0.1, 0.5, 3, 4), row(NoOp, 1, 0.3, 0.2, 0.6, 4, 7), row(Oracle, 0, 0.6, 0.7, 0.3, 5, 4), row(Oracle, 1, 0.7, 0.8, 0.4, 6, 7)}}}
	want := "5 % | 4 | 3 (75 %) | 1 (25 %) | 0.2500 [0.0000, 0.8853] | 0.6500 [0.0147, 1.0000] | 0.1500 | 0.7500 | 0.5500 | 0.3500 | −2.000 | 0.000 | −2.000 [−2.000, −2.000]"
	if got := textOf(c.textCopiesRow(0.05)); got != want {
		t.Errorf("the row is %s, want %s", got, want)
	}
}

// The table of copies searches all retained records, among documents of its own number: a record whose text stays has 1 in
// every model.
func TestTheTableOfCopiesFindsEveryCopy(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	s := tiny()
	s.Texts.CopyDocuments = 50
	studies, err := copyStudies(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	published := studies[0]
	published.Seeds = published.Seeds[:1]
	if published.Texts.Documents != 50 || published.Gallery != ruler.NoCap || s.Texts.Documents != 40 {
		t.Fatalf("%d documents, gallery %d", published.Texts.Documents, published.Gallery)
	}
	c, err := e.Collect(t.Context(), published)
	if err != nil {
		t.Fatal(err)
	}
	with := 0
	for _, r := range c.Rows {
		if with += r.WithCopy; r.WithCopy > 0 && r.M4WithCopy != 1 {
			t.Errorf("%s, %g: M4 of the records with a copy is %v", r.Variant, r.Fraction, r.M4WithCopy)
		}
	}
	if with == 0 {
		t.Error("no record keeps a copy")
	}
}

// Listing needs no file; running without the weights or the texts says which file is missing.
func TestTextsWithoutFilesAreListedAndNotRun(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	for _, name := range []string{"hour", "large", "standard", "paper"} {
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

// All documents are counted without a model: means over the forget sets, each the count of its own cell, and
// what was not measured is in no field.
func TestCopiesAmongAllDocumentsAreCounted(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	studies, err := copyStudies(t.Context(), tiny())
	if err != nil {
		t.Fatal(err)
	}
	if len(studies) != 3 || studies[0].countsOnly() || studies[1].countsOnly() || !studies[2].countsOnly() {
		t.Fatalf("%d studies", len(studies))
	}
	s := studies[2]
	if s.Texts.Documents != 0 || studies[0].Texts.Documents != tiny().Texts.Documents {
		t.Errorf("%d documents are counted, %d trained on", s.Texts.Documents, studies[0].Texts.Documents)
	}
	jobs, err := textCopies.Jobs(t.Context(), e, tiny())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if strings.Contains(j.ID, "all documents") != (len(j.Needs) == 0 && strings.HasPrefix(j.ID, "evidence/")) {
			t.Errorf("%s needs %v", j.ID, j.Needs)
		}
	}
	c, err := e.Collect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if c.Data["generated_reports, all documents"] == "" || len(c.Data) != 1 {
		t.Errorf("the data are %v", c.Data)
	}
	inRetain, documents := 0, 0
	for _, r := range rowsOf(c.Rows, noModel, 0.1) {
		of, err := e.Lab().Case(t.Context(), s.setting(cellKey{r.DataSet, r.Seed, r.Fraction, r.ForgetSeed}))
		if err != nil {
			t.Fatal(err)
		}
		want, err := texts.CountCopies(of.Prepared, of.Forget)
		if err != nil || r.InRetain != want.InRetain || r.InTest != want.InTest || r.WithCopy != len(want.Rows) || r.Without != len(want.Without) {
			t.Errorf("forget seed %d: %+v, want %+v (%v)", r.ForgetSeed, r.TextEvidence, want, err)
		}
		inRetain, documents = inRetain+r.InRetain, documents+r.Documents
	}
	if inRetain == 0 || inRetain == documents {
		t.Errorf("%d of %d documents keep a copy: the table could not tell", inRetain, documents)
	}
	n := float64(countedDraws)
	want := fmt.Sprintf("%.1f (%.0f %%)", float64(inRetain)/n, 100*float64(inRetain)/float64(documents))
	row := c.countsRow(0.1, 12)
	if len(row.Cells) != 12 || row.Cells[1].Text != fmt.Sprintf("%.1f", float64(documents)/n) || row.Cells[2].Text != want || row.Cells[4].Missing == "" {
		t.Errorf("the row is %+v, want %s", row, want)
	}
	var csv bytes.Buffer
	if err := runsOf([]*Collected{c}).CSV(&csv); err != nil || strings.Contains(csv.String(), "m4") || !strings.Contains(csv.String(), "n_in_retain") {
		t.Errorf("%v: %s", err, csv.String())
	}
}
