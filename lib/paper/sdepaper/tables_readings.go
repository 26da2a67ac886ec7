package sdepaper

// Tables 2b, 3b, 4b and 8b: details of the rates.

import (
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
	Doc:   readingsDoc + "The models are those of Table 4.",
}

var table8b = paper.Recipe{
	ID:    "sde/table8b",
	Title: "SDE Table 8b. What the rate of out is made of, by the share that is to be forgotten",
	Doc:   readingsDoc + "The models are those of Table 8.",
}

func init() {
	define(&table2b, allCells, judgedBy(partTrajectory), func(found *evidence[Judged]) *paper.Output {
		ev, columns := verdicts{found}, readingColumns("F1", Judged.F1)
		t, size := ev.readingsTable(table2b, paper.Headings("epochs", columns)), ev.largest()
		for _, s := range ev.Settings {
			for _, r := range ev.Fractions {
				for _, j := range judges(sde.SDE{}.Name(), sde.SpreadOnly{}.Name()) {
					for _, c := range ev.Checkpoints {
						l := ev.line(fmt.Sprintf("%s, %s, |S| = %d", group(s, r), j.name, size), s, j, verdictsAt(r, size, c))
						l.Label = fmt.Sprintf("%d %%", c)
						t.Rows = append(t.Rows, l.Row(columns))
					}
				}
			}
		}
		return &paper.Output{Table: t}
	})
	define(&table3b, allCells, judgedBy(partMain, partSpread), func(found *evidence[Judged]) *paper.Output {
		ev, columns := verdicts{found}, readingColumns("F1", Judged.F1)
		t := ev.readingsTable(table3b, paper.Headings("judge", columns))
		for _, s := range ev.Settings {
			for _, r := range ev.Fractions {
				for _, size := range ev.Sizes {
					for _, j := range judges() {
						t.Rows = append(t.Rows, ev.line(fmt.Sprintf("%s, |S| = %d", group(s, r), size), s, j, atRoot(r, size)).Row(columns))
					}
				}
			}
		}
		return &paper.Output{Table: t}
	})
	defineUnlearned(&table4b, tenth, unlearnings.ratesTable)
	defineUnlearned(&table8b, everyFraction, unlearnings.ratesTable)
}

// readingsTable is a recipe's table with the columns of rates.
func (ev *evidence[R]) readingsTable(r paper.Recipe, columns []report.Column) *report.Table {
	t := ev.table(r)
	t.Columns = columns
	t.Notes = append(t.Notes, fmt.Sprintf("%d models, %d draws of references and sets for each.", ev.Seeds, ev.Draws))
	return t
}

// ratesTable has a group for every method of table 4, with a row for every variant.
func (ev unlearnings) ratesTable(r paper.Recipe) *report.Table {
	t := ev.readingsTable(r, paper.Headings("model", readingColumns[Unlearned]("out", nil)))
	for _, s := range ev.Settings {
		for _, f := range ev.Fractions {
			for _, a := range ev.Variants() {
				t.Notes = append(t.Notes, ev.warnings(s, f, a)...)
			}
			for _, judge := range otrNames() {
				columns := readingColumns("out", func(u Unlearned) Rates { return u.OTR(judge) })
				for _, a := range ev.Variants() {
					t.Rows = append(t.Rows, ev.line(group(s, f)+": "+judge, s, f, a).Row(columns))
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
