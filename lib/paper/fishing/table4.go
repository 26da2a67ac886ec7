package fishing

import (
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
)

var table4 = paper.Recipe{
	ID:    "fishing/table4",
	Title: "Fishing Table 4. Attacks that learn nothing",
	Doc: "AUC of forgotten cells against matched unseen ones, higher score meaning member, null 0.5. The paper gives |2 AUC - 1|, which loses the " +
		"direction: below 0.5 the forgotten cells look less like members than strangers do. 'coded' decodes without library size, as the " +
		"published program does. The reference of the likelihood ratio is an independent retrained model. Compare every row with " +
		"'retrained': what the attack says of a model that never saw the cells is about their type.",
}

// printed4 are the paper's advantages of the original and the retrained model.
func printed4(attack string) (original, retrained string, known bool) {
	switch attack {
	case generative.Recon{}.Name() + coded:
		return "0.438", "0.438", true
	case generative.KL{}.Name():
		return "0.841", "0.733", true
	case generative.ELBO{}.Name() + coded:
		return "0.838", "0.725", true
	case generative.LikelihoodRatio{}.Name():
		return "0.839", "0.839", true
	case generative.CodedNeighbours().Name():
		return "0.986", "0.971", true
	}
	return "", "", false
}

func (ev *evidence) table4() *paper.Output {
	t := &report.Table{
		ID: table4.ID, Title: table4.Title, Caption: table4.Doc, Provenance: ev.provenance(table4.ID), Notes: ev.notes(),
		Columns: []report.Column{{Name: "model"}},
	}
	for _, name := range suite() {
		t.Columns = append(t.Columns, report.Column{Name: name, Note: "AUC, mean over models with its 95 % interval"})
	}
	for _, c := range ev.Cases {
		for _, a := range c.arms() {
			if rows := ev.of(c.Label, a.Label); len(rows) > 0 {
				t.Rows = append(t.Rows, suiteRow(c, a, rows))
			}
		}
	}
	for _, arm := range []string{Original, RetrainedCoded} {
		row := report.Row{Group: "printed, PBMC-33k, advantage", Kind: report.Paper, Cells: []report.Cell{report.Str(arm)}}
		for _, name := range suite() {
			row.Cells = append(row.Cells, printedCell(name, arm))
		}
		t.Rows = append(t.Rows, row)
	}
	return &paper.Output{Table: t}
}

func printedCell(attack, arm string) report.Cell {
	original, retrained, known := printed4(attack)
	switch {
	case !known:
		return report.Gap("not in the paper")
	case arm == Original:
		return report.Str(original)
	}
	return report.Str(retrained)
}

func suiteRow(c Case, a lab.Arm, rows []Row) report.Row {
	l := newLine(c, a, rows)
	for _, name := range suite() {
		l.Share(func(r Row) float64 { return r.Suite[name].AUC.Value })
	}
	return l.Row()
}
