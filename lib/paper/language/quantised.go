package language

// What rounding of weights brings back.

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/paper"
)

var quantisedRecipe = paper.Recipe{
	ID:    "language/quantised",
	Title: "What rounded weights still know of three people",
	Doc: "The models of the table of people with their weights rounded to 8 and to 4 bits, as models are served (nn.Params.Quantised). Zhang et " +
		"al. 2025 find that this brings back what was unlearned, where the weights had moved by less than a step of the rounding. After the bar stands the " +
		"mean of the retrained models, rounded in the same way: rounding alone changes what a model knows.",
}

// roundings are the numbers of bits of the table.
var roundings = []int{asTrained, 8, 4}

func quantisedTable() paper.Recipe {
	return paper.StudyRecipe(quantisedRecipe, StudyAt,
		func(e *paper.Env, s Study) []paper.Measurement[Row] {
			return measurements(e, s, quantisedRecipe.ID, roundings...)
		}, showQuantised)
}

func showQuantised(e *paper.Env, s Study, ev *paper.Evidence[Row]) *paper.Output {
	t := newTable(e, s, ev, quantisedRecipe, asTrained)
	for _, bits := range roundings {
		null := lineOf(ev, "", retrained(), bits)
		for _, v := range s.variants() {
			t.Rows = append(t.Rows, lineOf(ev, groupOf(bits), v.Label, bits).Row(columns(null)))
		}
	}
	return &paper.Output{Table: t}
}

func groupOf(bits int) string {
	if bits == asTrained {
		return "as trained, 32 bits"
	}
	return fmt.Sprintf("rounded to %d bits", bits)
}

// Rounded returns a model of the case with its weights rounded to so many bits; 32: the model itself.
func Rounded(c *audit.Case, m *audit.Model, bits int) (*audit.Model, error) {
	if bits == asTrained {
		return m, nil
	}
	w, err := m.Weights.Quantised(bits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Label, err)
	}
	return c.NewModel(fmt.Sprintf("%s, %d bits", m.Label, bits), w), nil
}
