package fishing

// Table 4: attacks without training.

import (
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var table4 = paper.Recipe{
	ID:    "fishing/table4",
	Title: "Fishing Table 4. Attacks that learn nothing",
	Doc: "AUC of forgotten cells against matched unseen ones, higher score meaning member, null 0.5. The paper gives |2 AUC - 1|, which loses the " +
		"direction: below 0.5 the forgotten cells look less like members than non-members do. 'coded' decodes without library size, as the " +
		"published program does. The reference of the likelihood ratio is an independent retrained model. Compare every row with " +
		"'retrained': what the attack says of a model that never saw the cells is about their type.",
}

// table4Variants are the columns of the paper's table, which are rows here.
func table4Variants() []string { return []string{Original, RetrainedCoded, Extra, Fisher} }

// printed4 are the paper's advantages of these variants. Its likelihood ratio is another one:
// see the table's notes.
func printed4() map[string][4]string {
	return map[string][4]string{
		generative.Recon{}.Name() + coded:   {"0.438", "0.438", "0.438", "0.438"},
		generative.KL{}.Name():              {"0.841", "0.733", "0.192", "0.272"},
		generative.ELBO{}.Name() + coded:    {"0.838", "0.725", "0.023", "0.454"},
		generative.LikelihoodRatio{}.Name(): {"0.839", "0.839", "0.734", "0.744"},
		generative.CodedNeighbours().Name(): {"0.986", "0.971", "0.897", "0.927"},
	}
}

func (ev *evidence) table4() *paper.Output {
	var columns []column
	for _, name := range suiteAttacks() {
		columns = append(columns, paper.ShareColumn(name, "AUC, mean over models with its 95 % interval",
			func(r Row) float64 { return r.Suite[name].AUC.Value }))
	}
	t := ev.variantTable(table4, columns)
	t.Notes = ev.notes()
	for k, variant := range table4Variants() {
		row := report.Row{Group: "printed, PBMC-33k, advantage", Kind: report.Paper, Cells: []report.Cell{report.Str(variant)}}
		for _, name := range suiteAttacks() {
			printed, known := printed4()[name]
			if known {
				row.Cells = append(row.Cells, report.Str(printed[k]))
			} else {
				row.Cells = append(row.Cells, report.Gap("not in the paper"))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = append(t.Notes, "In the paper's program the retrained model is the reference of every likelihood ratio but its own, "+
		"whose reference is the original: those two models' scores are each other's negative, and their advantages one number, 0.839. "+
		"It decodes without library size.")
	return &paper.Output{Table: t}
}
