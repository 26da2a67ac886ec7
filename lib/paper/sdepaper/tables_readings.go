package sdepaper

// Tables 2b, 3b, 4b and 8b: details of the rates.

import (
	"context"
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// The readings are the details behind the other tables: how a rate is composed.
const readingsDoc = "Algorithm 2 says in where the in-training reference is strictly nearer and out otherwise, so that a set as far " +
	"from both counts as out. Every judge is read in the three ways: by that rule, among the sets that are no tie, and by the share " +
	"of ties. References and sets are drawn again and again for the same models; the last column says how much hangs on that. "

var table2b = paper.Recipe{
	ID:    "sde/table2b",
	Title: "SDE Table 2b. What F1 is made of along the training",
	Doc:   readingsDoc + "The models are those of Table 2.",
}

var table3b = paper.Recipe{
	ID:    "sde/table3b",
	Title: "SDE Table 3b. What F1 is made of",
	Doc:   readingsDoc + "The models are those of Tables 1 and 3.",
}

var table4b = paper.Recipe{
	ID:    "sde/table4b",
	Title: "SDE Table 4b. What the rate of out is made of",
	Doc:   readingsDoc + "The models are those of Table 4. In layer h of a model with random weights nearly all sets may be ties.",
}

var table8b = paper.Recipe{
	ID:    "sde/table8b",
	Title: "SDE Table 8b. What the rate of out is made of, by the share that is to be forgotten",
	Doc:   readingsDoc + "The models are those of Table 8.",
}

func init() {
	defineRecipe(&table2b, judgedIn(partTrajectory), func(_ context.Context, ev *evidence) (*paper.Output, error) {
		size := ev.Sizes[len(ev.Sizes)-1]
		t := ev.readingsTable(table2b, "epochs", "F1")
		for _, s := range ev.Settings {
			for _, r := range ev.Fractions {
				for k, m := range []sde.Method{sde.SDE{}, sde.SpreadOnly{}} {
					for _, c := range ev.Checkpoints {
						rows := ratesOf(ev.judgedRows(s.Label, m.Name(), r, size, afterPercent(c)), Judged.F1)
						t.Rows = append(t.Rows, readingsRow(fmt.Sprintf("%s, %s, |S| = %d", group(s, r), m.Name(), size), fmt.Sprintf("%d %%", c), k > 0, rows))
					}
				}
			}
		}
		return &paper.Output{Table: t}, nil
	})
	defineRecipe(&table3b, judgedIn(partMain, partSpread), func(_ context.Context, ev *evidence) (*paper.Output, error) {
		t := ev.readingsTable(table3b, "judge", "F1")
		for _, s := range ev.Settings {
			for _, r := range ev.Fractions {
				for _, size := range ev.Sizes {
					for _, j := range judges() {
						rows := ratesOf(ev.judgedAtRoot(s.Label, j.name, r, size), Judged.F1)
						t.Rows = append(t.Rows, readingsRow(fmt.Sprintf("%s, |S| = %d", group(s, r), size), j.name, j.control, rows))
					}
				}
			}
		}
		return &paper.Output{Table: t}, nil
	})
	defineRecipe(&table4b, table4Measurements(tenth), func(_ context.Context, ev *evidence) (*paper.Output, error) {
		return &paper.Output{Table: ev.ratesTable(table4b, []float64{ev.fraction()})}, nil
	})
	defineRecipe(&table8b, table4Measurements(func(s Study) []float64 { return s.UnlearnFractions }), func(_ context.Context,
		ev *evidence) (*paper.Output, error) {
		return &paper.Output{Table: ev.ratesTable(table8b, ev.UnlearnFractions)}, nil
	})
}

// readingsTable has a column for the subject of a row, and the columns of its rates.
func (ev *evidence) readingsTable(r paper.Recipe, about, rate string) *report.Table {
	t := ev.table(r)
	t.Columns = append([]report.Column{{Name: about}}, readingColumns(rate)...)
	t.Notes = append(t.Notes, fmt.Sprintf("%d models, %d draws of references and sets for each.", ev.Seeds, ev.Draws))
	return t
}

func readingsRow(group, name string, control bool, models []Rates) report.Row {
	row := report.Row{Group: group, Cells: append([]report.Cell{report.Str(name)}, readings(models)...)}
	if control {
		row.Kind = report.Control
	}
	return row
}

// ratesTable has a group for every method of table 4, with a row for every variant.
func (ev *evidence) ratesTable(r paper.Recipe, fractions []float64) *report.Table {
	t := ev.readingsTable(r, "model", "out")
	for _, s := range ev.Settings {
		for _, f := range fractions {
			for _, a := range ev.Variants() {
				t.Notes = append(t.Notes, ev.warnings(s, f, a)...)
			}
			for _, judge := range otrNames() {
				for _, a := range ev.Variants() {
					if ev.diverged(s, f, a) {
						t.Rows = append(t.Rows, report.GapRow("diverged", group(s, f)+": "+judge, a.Label, len(t.Columns)))
						continue
					}
					rates := ratesOf(ev.variantRows(s, f, a), func(u Unlearned) Rates { return u.OTR(judge) })
					t.Rows = append(t.Rows, readingsRow(group(s, f)+": "+judge, a.Label, a.Control, rates))
				}
			}
		}
	}
	return t
}

// otrNames are the methods and layers with rates in a row of table 4.
func otrNames() []string {
	out := []string{"sde/h"}
	for _, m := range otrMethods() {
		out = append(out, m.Name()+"/hp")
	}
	return append(out, ScaledForgotten+"/hp", HeldOutTargets+"/hp")
}
