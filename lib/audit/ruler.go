package audit

import (
	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Embedding returns the activations just before the output layer, a row per record of the training
// part.
func (c *Case) Embedding(m *Model) (array.Matrix[float64], error) { return m.Embedding() }

// RULER measures M1 to M4 of a model against the case's oracle and original, with the values of
// every record. Rows without a direction pass, as in the paper's program, and intervals are wide (Options.Wide);
// otherwise opt decides.
func (c *Case) RULER(m *Model, opt ruler.Options) (*ruler.Result, error) {
	e, err := c.Evidence(Needs{Original: 1, Retrained: 1}, m)
	if err != nil {
		return nil, err
	}
	of, err := e.rulerEvidence(e.Models[0], e.ModelsOf(Retrained)[0], e.ModelsOf(Original)[0])
	if err != nil {
		return nil, err
	}
	opt.ZeroNorm, opt.Wide = ruler.AsPublished, true
	return ruler.Measure(*of, opt)
}

// RULERValues returns M1 to M4 and the values of every record without intervals, which is much
// faster.
func (c *Case) RULERValues(m *Model) (*ruler.Result, error) {
	return c.RULER(m, ruler.Options{PointOnly: true})
}

// RULERTable shows M1 to M4 of models as rows, each with its interval over records.
func (c *Case) RULERTable(models ...*Model) (*report.Table, error) {
	t := &report.Table{
		ID: "audit/ruler", Title: "M1 to M4 on " + c.describeForgetSet(),
		Caption: "Values with 95 % intervals over the forgotten records, one model per row.",
		Columns: []report.Column{
			{Name: "model"}, {Name: "M1", Note: "similarity to the oracle; no null"}, {Name: "M2", Note: "null 0; below it RULER reads memory"},
			{Name: "M3", Note: "null 0; negative: moved away from the oracle"}, {Name: "M4", Note: "null 0.5; above it RULER reads memory"},
		},
		Provenance: c.Provenance(),
	}
	for _, m := range models {
		r, err := c.RULER(m, ruler.Options{})
		if err != nil {
			return nil, err
		}
		row := report.Row{Cells: []report.Cell{
			report.Str(m.Label), report.Est(*r.M1, 4), report.Est(*r.M2, 5), report.Est(*r.M3, 5), report.Est(*r.M4, 4),
		}}
		if m.Control {
			row.Kind = report.Control
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}
