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
		"which forgets 400 questions in batches of 32. Each is taken at its own rate, of the same rates by the same rule. Look at what is left of the " +
		"retained answers. After the bar stands the mean of the retrained models.",
}

func stepsTable() paper.Recipe {
	return paper.StudyRecipe(stepsRecipe, StudyAt,
		func(e *paper.Env, s Study) []paper.Measurement[Row] {
			return append(measurements(e, s, stepsRecipe.ID, asTrained), measurements(e, s.tenEpochs(), stepsRecipe.ID+"-ten", asTrained)...)
		}, showSteps)
}

// tenEpochs is the study with the field's epochs, of the methods alone.
func (s Study) tenEpochs() Study {
	s.Budget = Budget{Forgotten: 10, Retained: 1, MethodsOnly: true}
	return s
}

func showSteps(e *paper.Env, s Study, ev *paper.Evidence[Row]) *paper.Output {
	t := newTable(e, s, ev, stepsRecipe, asTrained)
	null := lineOf(ev, "", retrained(), asTrained)
	ten := s.tenEpochs()
	for _, of := range []Study{s, ten} {
		group := fmt.Sprintf("%d epochs over the forgotten answers", of.Budget.Forgotten)
		for _, v := range of.variants() {
			t.Rows = append(t.Rows, lineOf(ev, group, v.Label, asTrained).Row(columns(null)))
		}
	}
	t.Notes = append(t.Notes, s.Budget.rule(), fmt.Sprintf("In the second half the epochs are %d over the forgotten answers and %d of fine-tuning; all else "+
		"is the same.", ten.Budget.Forgotten, ten.Budget.Retained))
	return &paper.Output{Table: t}
}
