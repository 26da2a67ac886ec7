// The table and the figure of a case: the readings of every model through every
// lens, with calls and floors.

package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
)

// Readings reads every model through every lens, model by model.
func (c *Case) Readings(models ...*Model) ([]Reading, error) {
	if err := checkModels(models); err != nil {
		return nil, err
	}
	var out []Reading
	task := progress.Begin("reading models", len(models)*len(c.lenses()))
	defer task.Done()
	for _, m := range models {
		collapsed, err := c.collapsedOutputs(m)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Label, err)
		}
		for _, lens := range c.lenses() {
			part := progress.Begin(lens.Name()+" of "+m.Label, 0)
			r, err := c.Read(lens, m)
			part.Done()
			task.Add(1)
			if err != nil {
				return nil, fmt.Errorf("%s through the lens %q: %w", m.Label, lens.Name(), err)
			}
			r.NoEvidence = firstReason(r.NoEvidence, collapsed)
			out = append(out, *r)
		}
	}
	return out, nil
}

// checkModels returns an error if there are no models, or one is nil.
func checkModels(models []*Model) error {
	if len(models) == 0 {
		return errors.New("audit: no models to read")
	}
	if i := slices.Index(models, nil); i >= 0 {
		return fmt.Errorf("audit: model %d is nil; the models of a case are made with Open and Unlearn", i)
	}
	return nil
}

// collapsedOutputs returns the reason against every reading of a model that gives many records the
// same outputs: logits of a classifier, embeddings of another network.
func (c *Case) collapsedOutputs(m *Model) (Reason, error) {
	o, err := m.Outputs()
	if err != nil {
		return Reason{}, err
	}
	rows := func(p *model.Prediction) array.Matrix[float32] { return p.Embedding }
	if _, is := c.Problem.Arch.(model.Classifier); is {
		rows = func(p *model.Prediction) array.Matrix[float32] { return p.Logits() }
	}
	forgotten, heldOut := rows(o.Train).Gather(c.Forget), rows(o.Test)
	return collapsedReason("outputs", RowHashes(&forgotten), RowHashes(&heldOut)), nil
}

func (c *Case) lenses() []Lens {
	if c.Lenses == nil {
		return DefaultLenses()
	}
	return c.Lenses
}

// Compare returns a table with a row per model and a column per lens. A cell has the value, its
// interval and the call, which places the model between original and oracle. Accuracies stand
// beside. Null and chance floor of every lens stand below the table: they say which values would be
// no evidence if there were no oracle.
func (c *Case) Compare(models ...*Model) (*report.Table, error) {
	calls, readings, err := c.Calls(models...)
	if err != nil {
		return nil, err
	}
	t := &report.Table{
		ID: "audit/" + c.DataSet(), Title: "What is left of " + c.describeForgetSet(),
		Columns: []report.Column{{Name: "model"}},
		Caption: "One row per model, one column per lens: value, 95 % interval over " + c.IntervalUnits() + ", and where that places the model between " +
			"the original, of which nothing was unlearned, and two networks that were retrained without the records, the oracle and one of another seed: " +
			"what a seed does is no verdict. The second of them is compared with the oracle alone.",
		Provenance: c.Provenance(),
	}
	for i, lens := range c.lenses() {
		r := readings[i]
		note := lens.Info().Measures
		if r.Absent == "" {
			note += nullText(r)
		}
		t.Columns = append(t.Columns, report.Column{Name: lens.Name(), Note: note})
	}
	t.Columns = append(t.Columns,
		report.Column{Name: "forgotten", Unit: "accuracy"}, report.Column{Name: "retained", Unit: "accuracy"},
		report.Column{Name: "held out", Unit: "accuracy"})
	for i, m := range models {
		row, err := c.row(m, callCells(readings[i*len(calls[i]):], calls[i], 3))
		if err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = append(explainCalls(calls), c.withheldNotes(models, readings)...)
	if c.About.Synthetic {
		t.Notes = append(t.Notes, "The data are generated.")
	}
	return t, nil
}

// withheldNotes returns the reasons why readings are no evidence, each once, with the models and
// the lenses that it is about. A lens that reads no model stands alone.
func (c *Case) withheldNotes(models []*Model, readings []Reading) (out []string) {
	lenses := len(c.lenses())
	var reasons []string
	about := map[string][]string{}
	add := func(reason, what string) {
		if about[reason] == nil {
			reasons = append(reasons, reason)
		}
		about[reason] = append(about[reason], what)
	}
	for lens := range lenses {
		why := make([]string, len(models))
		for m := range models {
			if found := WithheldReason(readings[m*lenses+lens]); found.Call != "" {
				why[m] = found.Why
			}
		}
		name := readings[lens].Lens
		if same := slices.Compact(slices.Clone(why)); len(same) == 1 && same[0] != "" && len(models) > 1 {
			add(same[0], "every model by "+name)
			continue
		}
		for m, reason := range why {
			if reason != "" {
				add(reason, models[m].Label+" by "+name)
			}
		}
	}
	for _, reason := range reasons {
		out = append(out, fmt.Sprintf("%s: %s.", strings.Join(about[reason], "; "), reason))
	}
	return out
}

// nullText says what the null of a reading is, and how far chance alone is from it.
func nullText(r Reading) string {
	if r.Null == nil {
		return "; no null value but the oracle's"
	}
	return fmt.Sprintf("; null %g%s", *r.Null, floorText(r))
}

func floorText(r Reading) string {
	if r.Floor.P95 != r.Floor.P95 { // NaN
		return ", chance floor unknown"
	}
	return fmt.Sprintf(", chance alone stays within %.3f of it in 95 of 100 cases", r.Floor.P95)
}

func (c *Case) row(m *Model, lenses []report.Cell) (report.Row, error) {
	row := report.Row{Kind: report.Method, Cells: append([]report.Cell{report.Str(m.Label)}, lenses...)}
	if m.Control {
		row.Kind = report.Control
	}
	acc, err := c.Accuracy(m)
	if errors.Is(err, lab.ErrNoAnswers) {
		for range 3 {
			row.Cells = append(row.Cells, report.Gap("no classifier"))
		}
		return row, nil
	}
	if err != nil {
		return row, err
	}
	row.Cells = append(row.Cells, report.Est(acc.Forget, 2), report.Num(acc.Retain.Value, 3), report.Est(acc.Test, 2))
	return row, nil
}

// describeForgetSet names the forget set: "the 20 outliers of tabular_outliers".
func (c *Case) describeForgetSet() string {
	if text := lab.DescribeForgetSet(c.Setting.Forget, c.Problem.Prepared, len(c.Forget)); text != "" {
		return text + " of " + c.DataSet()
	}
	return fmt.Sprintf("%d forgotten records of %s", len(c.Forget), c.DataSet())
}

// Provenance returns seeds, engine, versions and data of the case's tables and figures.
func (c *Case) Provenance() report.Provenance {
	info := c.Lab.Engine.Info()
	return report.Provenance{
		Seeds: []int64{int64(c.Seed)}, Engine: info.Kind, Kernel: info.Kernel, Device: info.Device.String(),
		ResultsVersion: fmt.Sprint(lab.ResultsVersion), Data: map[string]string{c.DataSet(): c.Hash},
	}
}

// Figure draws the readings of every model, one panel per lens: points with intervals, the null as
// a line and the chance floor as a band.
func (c *Case) Figure(models ...*Model) (plot.Figure, error) {
	readings, err := c.Readings(models...)
	if err != nil {
		return nil, err
	}
	var panels []plot.Figure
	for k, lens := range c.lenses() {
		if readings[k].Absent != "" {
			continue
		}
		f := plot.Forest{Meta: plot.Meta{Title: lens.Name()}, X: plot.Axis{Label: lens.Info().Measures}, Digits: 3}
		for i, m := range models {
			r := readings[i*len(c.lenses())+k]
			row := plot.ForestRow{Label: m.Label, Estimate: r.Estimate, Control: m.Control, Missing: r.Absent}
			if r.Absent == "" {
				f.Null = nullOf(r)
			}
			f.Rows = append(f.Rows, row)
		}
		panels = append(panels, f)
	}
	return plot.Panels{
		Meta: plot.Meta{
			Title: "What is left of " + c.describeForgetSet(),
			Caption: "Bars are 95 % intervals over " + c.IntervalUnits() + "; the dashed line is the null, the band what chance alone does in 95 of " +
				"100 cases. Squares: controls.",
			Source: c.Provenance().Line(),
		},
		Columns: 1, Figures: panels,
	}, nil
}

func nullOf(r Reading) *plot.Null {
	if r.Null == nil {
		return nil
	}
	if r.Floor.P95 != r.Floor.P95 { // NaN
		return &plot.Null{Value: *r.Null}
	}
	n := plot.NullBand(*r.Null, r.Floor.P95)
	n.BandLabel = "chance, 95 %"
	return n
}
