package lab

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/texts"
)

// A condition that names documents which a sample leaves out is refused: else a part of them would be forgotten, without a word.
func TestASampleHasAllThatIsToBeForgotten(t *testing.T) {
	l := newLab(t)
	s := Setting{Data: Texts{Set: "generated_people", Preparation: texts.Preparation{
		Tokenizer: texts.BPE, Unit: texts.Windows, Tokens: 48, Vocabulary: 500, MaxDocuments: 60}}}
	p, err := s.Data.Prepare(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	k := columnNamed(t, p.About.Columns, texts.ColumnDocument)
	used, all := map[float64]bool{}, p.About.Whole[0].Numbers
	for _, n := range p.About.Columns[k].Numbers {
		used[n] = true
	}
	if len(used) != 60 || len(all) != 1200 {
		t.Fatalf("%d documents of %d", len(used), len(all))
	}
	var in, out string
	for _, n := range all {
		if used[n] {
			in = fmt.Sprint(n)
		} else {
			out = fmt.Sprint(n)
		}
	}
	for values, want := range map[string]string{in: "", in + "," + out: "1 of these documents are used, and 1 are not: MaxDocuments", out: "0 of these documents are used"} {
		s.Forget = Where{Column: texts.ColumnDocument, Op: datasets.In, Values: strings.Split(values, ",")}
		_, err := l.load(t.Context(), s)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("documents %s: %v, want %q", values, err, want)
		}
	}
	s.Data = Texts{Set: "generated_reports"}
	if p, err := s.Data.Prepare(t.Context(), 0); err != nil || p.About.Whole != nil {
		t.Errorf("all documents: %v, %d", err, len(p.About.Whole))
	}
}

func columnNamed(t *testing.T, columns []datasets.Column, name string) int {
	t.Helper()
	for k, c := range columns {
		if c.Name == name {
			return k
		}
	}
	t.Fatalf("there is no column %s", name)
	return 0
}
