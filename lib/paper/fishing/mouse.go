package fishing

// The sweep over lambda on Tabula Muris.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

var mouseSweep = paper.Recipe{
	ID:    "fishing/mouse",
	Title: "Fishing, Section 5.4. Extra-gradient on Tabula Muris: does its weight matter?",
	Doc: "Extra-gradient as coded with lambda 5, 7, 10, 15 and 20, which the paper reports to give identical results: every run stopped " +
		"at epoch 6 with an AUC near 0.87. " +
		"There lambda is a weight of the utility, an epoch is one step, and a run stops by an attacker's noise: see the notes. At hour and standard " +
		"the cells are the sample of Tabula Muris, whose bladder is forgotten; at paper the whole set; at quick and atlas simulated " +
		"cells. Columns are Table 3's.",
}

// lambdas are the paper's values on Tabula Muris.
var lambdas = []float64{5, 7, 10, 15, 20}

// byLambda is Tabula Muris, or its stand-in at a scale, with extra-gradient at every weight.
func byLambda(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := simulated()
	switch scale {
	case "hour", "standard":
		c = tissueCase(s.Cases[0].Fit.Epochs)
	case "paper":
		c = tabulaMuris()
	}
	c.Part, c.Only = "mouse", []string{Original, Retrained, OtherSeed}
	for _, v := range lambdas {
		c.Also = append(c.Also, lab.Variant{Label: lambdaName(v), Method: unlearn.ExtraGradient{Lambda: v}})
	}
	s.Cases = []Case{c}
	return s, nil
}

func lambdaName(v float64) string { return fmt.Sprintf("%s, lambda %g", Extra, v) }

func (ev *evidence) mouseSweep() *paper.Output {
	printed := map[string]string{Original: "0.891", lambdaName(10): "0.874"}
	for _, v := range lambdas {
		if v != 10 {
			printed[lambdaName(v)] = "about 0.87"
		}
	}
	t := ev.attackTable(mouseSweep, printedColumn("AUC as printed, on all of Tabula Muris, by the original's attacker", "not in the paper",
		func(variant string) string { return printed[variant] }), reconColumn)
	t.Notes = append(t.Notes, nonmembersSeen)
	for _, v := range lambdas {
		t.Notes = append(t.Notes, ev.runNotes(lambdaName(v))...)
	}
	return &paper.Output{Table: t}
}
