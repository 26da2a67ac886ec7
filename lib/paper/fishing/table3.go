package fishing

// Table 3: structured and scattered forget sets.

import (
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var table3 = paper.Recipe{
	ID:    "fishing/table3",
	Title: "Fishing Table 3. Fisher scrubbing by the kind of forget set",
	Doc: "A structured set is a rare type of cell; a scattered one has cells of all types, drawn as the paper draws its. Either has matched " +
		"non-members and an attacker of its own, which learns on its own original's features. 'as coded' is the structured set's attacker, which the " +
		"program lets judge the scattered set too: what it has learned is of another set. Compare 'original' with 'retrained': where they agree " +
		"there was nothing to forget, whatever the method. The notes test that by seed; " +
		"an advantage below the chance of one model is no proof that they agree.",
}

// scattered is the number of cells in the paper's scattered sets.
const scattered = 35

// byForgetSet is every structured case of a scale and, beside it, a scattered one.
func byForgetSet(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	var cases []Case
	for _, c := range s.Cases {
		c.Part, c.Only = "table3", []string{Original, Retrained, OtherSeed, Ten, Fisher, FisherSum}
		spread := c.withScatteredSet()
		spread.Label, spread.AttackerFrom = fmt.Sprintf("%s; scattered", c.Label), &c
		c.Label += "; structured"
		cases = append(cases, c, spread)
	}
	s.Cases = cases
	return s, nil
}

// withScatteredSet is the case with cells of all types as the forget set.
func (c Case) withScatteredSet() Case {
	c.Forget = lab.Scattered{Count: scattered}
	return c
}

// printed3 are the paper's values of a variant: the mean AUC and its deviation.
func printed3(c Case, variant string) string {
	return map[string]string{
		Original + "structured": "0.769", Fisher + "structured": "0.814 +- 0.003",
		Original + "scattered": "0.525", Fisher + "scattered": "0.499 +- 0.004",
	}[variant+c.setKind()]
}

// setKind is the kind of a case's forget set.
func (c Case) setKind() string {
	if c.scatteredCells() > 0 {
		return "scattered"
	}
	return "structured"
}

func (ev *evidence) table3() *paper.Output {
	own := paper.ShareColumn("as coded", "P-B of the structured set's attacker, on all cells of this one", ProtocolAUC(learned.PB().Name))
	borrowed := paper.ShareColumn(own.Name, own.Note, func(r Row) float64 { return r.OtherCase.AUC.Value })
	coded := column{Name: own.Name, Note: own.Note, Cell: func(l line) report.Cell {
		if ev.caseOf(l).AttackerFrom == nil {
			return own.Cell(l)
		}
		return borrowed.Cell(l)
	}}
	printed := ev.printedOfCase("mean AUC and its deviation over three seeds as printed, on PBMC-33k", "", printed3)
	return &paper.Output{Table: ev.attackTable(table3, printed, coded)}
}

// attackTable is a table of all attackers on every variant of every case, with additional
// columns and the paper's.
func (ev *evidence) attackTable(r paper.Recipe, printed column, own ...column) *report.Table {
	ours := learned.CrossFitted(nil).Name
	t := ev.variantTable(r, slices.Concat([]column{
		paper.ShareColumn("AUC, P-B", "the paper's attacker, of this set's original, on all cells; null 0.5; mean over models with its 95 % interval",
			ProtocolAUC(learned.PB().Name)),
	}, own, []column{
		paper.ShareColumn("AUC, cross-fitted", "ours; null in the notes, near 0.5", ProtocolAUC(ours)),
		paper.ShareColumn("advantage", "of the cross-fitted attacker, |2 AUC - 1|, mean over models", advantage),
		{Name: "chance", Note: "the advantage of the cross-fitted attacker that 5 of 100 exceed at these numbers of cells when members and " +
			"non-members are exchangeable",
			Cell: func(l line) report.Cell {
				return report.Num(l.Mean(func(r Row) float64 { return r.Attacks[ours].All.Advantage.ChanceP95 }).Value, 3)
			}},
		elboColumn,
	}, ev.spentColumns(), []column{printed}))
	t.Notes = slices.Concat(ev.notes(), []string{ev.intervalNote()}, ev.forgettingNotes())
	return t
}
