package lenses

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// The table of another's cases has their seeds, names what is generated among them alone, and does not
// speak of rows that it does not have.
func TestTheTableOfOwnCasesIsAboutThem(t *testing.T) {
	e := environment(t)
	mine := func(rows, seed int) NamedCase {
		return NamedCase{Name: "mine", Methods: []lab.Variant{{Label: "tuned", Method: unlearn.FineTuning{Epochs: 1}}}, Setting: lab.Setting{
			Data: lab.Table{Set: "two_moons", MaxRows: rows}, Forget: lab.Random{Fraction: 0.1}, Fit: train.Config{Epochs: 2}, Seed: seed}}
	}
	made, err := Table(t.Context(), e, []NamedCase{mine(300, 7), mine(400, 7), mine(400, 8)}, "quick")
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(made.Notes, "\n")
	if !slices.Equal(made.Provenance.Seeds, []int64{7, 8}) || len(made.Provenance.Data) != 2 ||
		!strings.Contains(notes, "Generated: two_moons.") || strings.Contains(notes, "neggrad") || strings.Contains(notes, "moons_island") {
		t.Errorf("seeds %v, data %v, notes %s", made.Provenance.Seeds, made.Provenance.Data, notes)
	}
	twice := mine(300, 7)
	twice.Methods = append(twice.Methods, lab.Variant{Label: "tuned", Method: unlearn.SCRUB{}})
	if _, err := Table(t.Context(), e, []NamedCase{twice}, "quick"); err == nil || !strings.Contains(err.Error(), `case mine: two variants are called "tuned"`) {
		t.Error(err)
	}
}

// Generated sets stand in one note, each once.
func TestGeneratedSetsStandInOneNote(t *testing.T) {
	table := &report.Table{Notes: []string{"Another note."}}
	for _, name := range []string{"glyphs", "moons_island", "glyphs"} {
		noteGenerated(table, name)
	}
	if !slices.Equal(table.Notes, []string{"Another note.", "Generated: glyphs, moons_island."}) {
		t.Errorf("%q", table.Notes)
	}
}
