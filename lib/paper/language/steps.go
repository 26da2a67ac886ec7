package language

// What a method reaches in ten epochs, and in as many steps as the benchmark gives it.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/paper"
)

var stepsRecipe = paper.Recipe{
	ID:    "language/steps",
	Title: "Ten epochs over a few answers are few steps",
	Doc: "The methods of the table of people with the field's ten epochs over the forgotten answers, and with as many steps as ten epochs are in TOFU, " +
		"which forgets 400 questions in batches of 32. Each is taken at its own rate by the same rule. Look at what is left of the retained answers. After " +
		"the bar stands the mean of the retrained models.",
}

func stepsTable() paper.Recipe {
	return paper.StudyRecipe(stepsRecipe, StudyAt,
		func(e *paper.Env, s Study) []paper.Measurement[Row] {
			return append(measurements(e, s, stepsRecipe.ID, asTrained), measurements(e, s.tenEpochs(), stepsRecipe.ID+"-ten", asTrained)...)
		}, showSteps)
}

// tenEpochs is the study with the field's epochs, of the methods alone. In few steps a method may need a
// high rate, so that it has more to choose from.
func (s Study) tenEpochs() Study {
	s.Budget = Budget{Forgotten: 10, Retained: 1, Rates: append(s.Budget.rates(), 1e-2, 2e-2), MethodsOnly: true}
	return s
}

func showSteps(e *paper.Env, s Study, ev *paper.Evidence[Row]) *paper.Output {
	t := newTable(e, s, ev, stepsRecipe, asTrained)
	null := lineOf(ev, "", retrained(), asTrained)
	for _, of := range []Study{s, s.tenEpochs()} {
		group := fmt.Sprintf("%d epochs over the forgotten answers", of.Budget.Forgotten)
		for _, v := range of.variants() {
			t.Rows = append(t.Rows, lineOf(ev, group, v.Label, asTrained).Row(columns(null)))
		}
		t.Notes = append(t.Notes, group+". "+of.Budget.rule())
	}
	return &paper.Output{Table: t}
}
