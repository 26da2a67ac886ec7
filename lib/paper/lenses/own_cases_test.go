package lenses

import (
	"context"
	"errors"
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

// refuses is a method that fails.
type refuses struct{}

func (refuses) Info() unlearn.Info {
	return unlearn.Info{Name: "refuses", Sees: unlearn.Sees{Original: true}, Does: "fails", From: "a test"}
}

func (refuses) Unlearn(context.Context, unlearn.Request) (*unlearn.Outcome, error) {
	return nil, errors.New("no licence for these records")
}

// A method that fails is a row without numbers and a note; the other rows, and those of other cases, are there. A control that fails
// ends the table.
func TestAMethodThatFailsIsARowOfItsOwn(t *testing.T) {
	of := func(name string, control bool) NamedCase {
		methods := []lab.Variant{{Label: "mine", Method: refuses{}, Control: control}, {Label: "tuned", Method: unlearn.FineTuning{Epochs: 1}}}
		return NamedCase{Name: name, Methods: methods,
			Setting: lab.Setting{Data: lab.Table{Set: "two_moons", MaxRows: 300}, Forget: lab.Random{Fraction: 0.1}, Fit: train.Config{Epochs: 2}}}
	}
	made, err := Table(t.Context(), environment(t), []NamedCase{of("first", false), of("second", false)}, "quick")
	if err != nil {
		t.Fatal(err)
	}
	rows, gaps := map[string]int{}, 0
	for _, r := range made.Rows {
		if len(r.Cells) == 0 {
			continue
		}
		rows[r.Cells[0].Text]++
		if r.Cells[0].Text == "mine" && r.Cells[1].Missing == "failed" {
			gaps++
		}
	}
	notes := strings.Join(made.Notes, "\n")
	if rows["tuned"] != 2 || gaps != 2 || !strings.Contains(notes, "two_moons: second (24), mine: no licence for these records.") {
		t.Errorf("rows %v, %d gaps, notes %s", rows, gaps, notes)
	}
	if _, err := Table(t.Context(), environment(t), []NamedCase{of("first", true)}, "quick"); err == nil || !strings.Contains(err.Error(), "case first, mine: ") {
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
