package blindu

// The table of attribute inference: a person's sex from an upload.

import (
	"context"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/representation"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// AttributeResult is how well an attacker infers a property of a person from the person's
// upload.
type AttributeResult struct {
	Case     string  `json:"case"`
	Upload   string  `json:"upload"`
	Seed     int     `json:"seed"`
	Persons  int     `json:"n_persons"`
	AUC      float64 `json:"auc"`
	Balanced float64 `json:"balanced"`
	Raw      float64 `json:"raw"`      // AUC of the same attack on the record itself, without the property's column
	Majority float64 `json:"majority"` // accuracy of the majority class
}

var attribute = paper.Recipe{
	ID:    "blindu/attribute",
	Title: "The sex of a person, out of the code of a record",
	Doc: "Adult: an attacker who knows the sex of some persons learns it from the codes of their records, by logistic regression, and is judged on " +
		"others (cross-fitted). 'raw' is the same attack on the records themselves without that column: what other columns tell is not hidden by " +
		"leaving it out. The program has such an attack in the place of membership inference, on the records that it learned on, and gives its " +
		"accuracy beside nothing: always giving the commoner answer is right as often as 'majority' says. It needs Adult's files at every scale.",
}

// property is the column that is inferred.
const property = "sex"

// attributeStudy is the case of a scale with records of persons, without a backdoor.
func attributeStudy(scale string) (Study, error) {
	s, err := StudyAt(scale)
	if err != nil {
		return s, err
	}
	c := bothRequests(adult())[1]
	if scale == "quick" || scale == "hour" { // a part of the table
		c.Data, c.Fit.Epochs = lab.Table{Set: "adult", MaxRows: 6000}, 5
	}
	s.Cases = []Case{c}
	return s, nil
}

func attributeRecipe(r paper.Recipe) paper.Recipe {
	return paper.StudyRecipe(r, attributeStudy, attributeMeasurements, func(e *paper.Env, s Study, found *paper.Evidence[AttributeResult]) *paper.Output {
		return &paper.Output{Table: attributeTable(e, s, found), Runs: report.NewRecords(found.Rows)}
	})
}

func attributeMeasurements(e *paper.Env, s Study) []paper.Measurement[AttributeResult] {
	l := e.Lab()
	return paper.ForSeeds(s.Cases, s.Seeds, func(of Case, seed int) paper.Measurement[AttributeResult] {
		return paper.Measurement[AttributeResult]{
			ID:    fmt.Sprintf("evidence/blindu/attribute/%s/%s/seed-%d", of.DataSet(), of.coordinates(), seed),
			About: fmt.Sprintf("what codes tell, %s, seed %d", of.Label, seed), Setting: of.setting(seed), File: "told.json",
			Methods: []unlearn.Method{unlearn.NoOp{}},
			Key: func(c *lab.Case) store.Key {
				k := leakKey(l, c, of)
				k.Recipe = "evidence/blindu/attribute"
				return k
			},
			Cost: func(c *lab.Case) int64 { return int64(10 * of.Known) },
			Measure: func(ctx context.Context, c *lab.Case) ([]AttributeResult, error) {
				return measureAttribute(ctx, l.Engine, c, of)
			},
		}
	})
}

// measureAttribute attacks the codes of unseen persons.
func measureAttribute(ctx context.Context, e *engine.Engine, c *lab.Case, of Case) ([]AttributeResult, error) {
	column := -1
	for j, f := range c.About.Features {
		if f.Name == property {
			column = j
		}
	}
	if column < 0 {
		return nil, fmt.Errorf("data set %s: no column is called %q", c.DataSet(), property)
	}
	original, err := c.TrainedModel(ctx, c.Original())
	if err != nil {
		return nil, err
	}
	d := withNumbers(c.Test, firstN(c.EvalRows(), of.Known), nonmemberOffset)
	p := representation.Persons{Has: make([]bool, d.X.Rows)}
	for i := range p.Has {
		p.Has[i] = d.X.Row(i)[column] > 0 // standardised: the higher of the two codes
	}
	raw := dropColumn(d.X, column)
	p.Raw = &raw
	var out []AttributeResult
	for _, u := range of.uploadKinds() {
		if u.forget == nil {
			continue
		}
		sent, err := unlearn.NewErasure(c.Runner, original.Final, d, u.mask, engine.Root(lab.UnlearnSeed+c.Shift))
		if err != nil {
			return nil, err
		}
		p.Codes = array.Convert[float64](sent.Codes)
		found, err := representation.Attribute{}.Run(ctx, e, p, engine.Root(attackSeed+c.Shift))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.name, err)
		}
		out = append(out, AttributeResult{
			Case: of.Label, Upload: u.name, Seed: c.Seed, Persons: d.X.Rows, AUC: found.Codes.AUC.Value, Balanced: found.Codes.Balanced.Value,
			Raw: found.Raw.AUC.Value, Majority: found.Majority,
		})
	}
	return out, nil
}

// dropColumn is a copy of the records without a column.
func dropColumn(x array.Matrix[float32], column int) array.Matrix[float64] {
	out := array.New[float64](x.Rows, x.Cols-1)
	for i := range x.Rows {
		to := out.Row(i)[:0]
		for j, v := range x.Row(i) {
			if j != column {
				to = append(to, float64(v))
			}
		}
	}
	return out
}

func attributeTable(e *paper.Env, s Study, found *paper.Evidence[AttributeResult]) *report.Table {
	columns := []paper.Column[AttributeResult]{
		paper.ShareColumn("AUC", "null 0.5; mean over models with its 95 % interval; nearest to the null is best for whom it is of",
			func(x AttributeResult) float64 { return x.AUC }),
		paper.ShareColumn("balanced", "mean of the two kinds' shares that are called right; null 0.5", func(x AttributeResult) float64 { return x.Balanced }),
		paper.ShareColumn("raw", "AUC of the same attack on the records, without the column", func(x AttributeResult) float64 { return x.Raw }),
		paper.ShareColumn("majority", "accuracy of always giving the commoner answer", func(x AttributeResult) float64 { return x.Majority }),
	}
	t := &report.Table{
		ID: attribute.ID, Title: attribute.Title, Caption: attribute.Doc, Provenance: found.Provenance(e, attribute.ID, s.Scale, Results, s.Seeds),
		Columns: paper.Headings("upload", columns),
		Notes: slices.Concat(
			[]string{"Intervals are Student's over models of different seeds; the persons are the same in all of them."},
			found.MissingNotes(), differences(s.Cases, uncounted)),
	}
	for _, c := range s.Cases {
		for _, kind := range uploadNames() {
			rows := slices.DeleteFunc(slices.Clone(found.Rows), func(x AttributeResult) bool { return x.Case != c.Label || x.Upload != kind })
			if len(rows) > 0 {
				t.Rows = append(t.Rows, uploadLine(c.Label, kind, rows).Row(columns))
			}
		}
	}
	return t
}
