package lenses

// The table of lenses and its picture.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Make reads every method and control of every case through every lens. The table has value,
// interval and call in each cell, and in the last column where the lenses disagree. The figure
// places each model between original and oracle, lens by lens. Cases whose data are not on this
// machine are left out and named.
func Make(ctx context.Context, e *paper.Env, cases []NamedCase, scale string) (*paper.Output, error) {
	t, f := &report.Table{
		ID: id, Title: title,
		Caption: doc,
		Columns: []report.Column{{Name: "model"}},
	}, plot.Panels{Meta: plot.Meta{Title: title, Caption: picture, Width: 1080}, Columns: 2}
	for _, lens := range audit.TableLenses() {
		t.Columns = append(t.Columns, report.Column{Name: lens.Name(), Note: lens.Info().Measures})
	}
	t.Columns = append(t.Columns, report.Column{Name: "together"})
	ctx, task := progress.Start(ctx, id, len(cases))
	defer task.Done()
	for _, n := range cases {
		placed, err := addCase(ctx, e.Lab(), t, n, n.variants())
		if errors.Is(err, datasets.ErrMissing) {
			t.Notes = append(t.Notes, fmt.Sprintf("Left out, its file is not on this machine: %s. Get it with: lethe data get %s", n.DataSet(), n.DataSet()))
			continue
		}
		if err != nil {
			return nil, err
		}
		f.Figures = append(f.Figures, placed)
		task.Add(1)
	}
	t.Notes = append(t.Notes,
		"M2 of the oracle against itself is 0 exactly, and what another seed does to it is one number, that of the row 'retrained, other seed'. From one "+
			"number Student's interval of one more is wide, so that the lens 'against the oracle' places only models that are many times as far away, and "+
			"that row cannot be placed.",
		"One training seed per case; intervals are over records, those of the lens subsets over draws of references. Those of 'against the oracle' are "+
			"too narrow for few records to forget: of normal values they hold M2 in 91 of 100 cases for 10 records and in 93 for 22.")
	if slices.ContainsFunc(cases, func(n NamedCase) bool { return n.Methods == nil && !n.HasImages() }) {
		t.Notes = append(t.Notes, "'neggrad' stands twice: at the paper's learning rate, and at four times that rate.")
	}
	t.Provenance.Scale, t.Provenance.Seeds = scale, seedsOf(e, cases)
	t.Provenance.Command = e.Command(id, scale)
	f.Source = t.Provenance.Line()
	if len(f.Figures) == 0 {
		return &paper.Output{Table: t}, nil
	}
	return &paper.Output{Table: t, Figure: f}, nil
}

// seedsOf are the seeds of cases, each once.
func seedsOf(e *paper.Env, cases []NamedCase) (out []int64) {
	for _, n := range cases {
		if seed := int64(n.Seed + e.Shift); !slices.Contains(out, seed) {
			out = append(out, seed)
		}
	}
	return out
}

// Table is the table of Make.
func Table(ctx context.Context, e *paper.Env, cases []NamedCase, scale string) (*report.Table, error) {
	out, err := Make(ctx, e, cases, scale)
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

// addCase adds a case to the table, the original, the oracle and the other variants, and returns
// its picture.
func addCase(ctx context.Context, l *lab.Lab, t *report.Table, n NamedCase, variants []lab.Variant) (plot.Figure, error) {
	placed, err := placeCase(ctx, l, t, n, variants)
	if err != nil {
		return nil, err
	}
	return placed.Map(t.Rows[len(t.Rows)-1].Group), nil
}

// placeCase adds a case to the table and returns its models, placed by every lens.
func placeCase(ctx context.Context, l *lab.Lab, t *report.Table, n NamedCase, variants []lab.Variant) (*audit.Placement, error) {
	if err := lab.CheckLabels(variants); err != nil {
		return nil, fmt.Errorf("case %s: %w", n.Name, err)
	}
	c, err := audit.Open(ctx, l, n.Setting)
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", n.Name, err)
	}
	c.Lenses = audit.TableLenses()
	var methods []unlearn.Method
	for _, a := range variants {
		methods = append(methods, a.Method)
	}
	failed, err := c.PrecomputeEach(ctx, nil, methods...)
	if err != nil {
		return nil, fmt.Errorf("case %s: %w", n.Name, err)
	}
	models, lost := []*audit.Model{c.Original, c.Oracle}, []report.Row(nil)
	variants, failed = variants[len(models):], failed[len(models):]
	group := fmt.Sprintf("%s: %s (%d)", n.DataSet(), n.Name, len(c.Forget))
	for i, a := range variants {
		m, err := (*audit.Model)(nil), failed[i]
		if err == nil {
			m, err = finiteModel(ctx, c, a)
		}
		switch d := (*train.Diverged)(nil); {
		case err == nil:
			models = append(models, m)
		case a.Control || ctx.Err() != nil:
			return nil, fmt.Errorf("case %s, %s: %w", n.Name, a.Label, err)
		case errors.As(err, &d):
			lost = append(lost, report.GapRow("diverged", group, a.Label, len(t.Columns)))
			t.Notes = append(t.Notes, fmt.Sprintf("%s, %s: %v.", group, a.Label, d))
		default:
			lost = append(lost, report.GapRow("failed", group, a.Label, len(t.Columns)))
			t.Notes = append(t.Notes, fmt.Sprintf("%s, %s: %s.", group, a.Label, lab.WhyFailed(a.Method, err)))
		}
	}
	placed, err := c.Place(models...)
	if err != nil {
		return nil, err
	}
	t.Rows = append(append(t.Rows, placed.Rows(group)...), lost...)
	p := c.Provenance()
	if t.Provenance.Data == nil {
		t.Provenance = p
		t.Provenance.Data = map[string]string{} // set below; p's is read before
	}
	for name, hash := range p.Data {
		if c.HasImages() { // several cases may draw from one data set
			name = fmt.Sprintf("%s, %d images", name, c.Train.X.Rows)
		}
		if c.Backdoor() != nil && c.Backdoor().Confuse {
			name += " with confused classes"
		} else if c.Backdoor() != nil {
			name += " with a backdoor"
		}
		paper.AddHash(t.Provenance.Data, name, hash)
	}
	if c.Problem.About.Synthetic {
		noteGenerated(t, c.Problem.About.Name)
	}
	return placed, nil
}

// finiteModel returns a variant's model, or an error if its outputs are not finite.
func finiteModel(ctx context.Context, c *audit.Case, a lab.Variant) (*audit.Model, error) {
	m, err := c.Variant(ctx, a)
	if err != nil {
		return nil, err
	}
	o, err := m.Outputs()
	if err != nil {
		return nil, err
	}
	return m, train.CheckOutputs(o.Train, o.Test)
}

// noteGenerated adds a data set to the note of those that are generated.
func noteGenerated(t *report.Table, name string) {
	const begins = "Generated: "
	for i, note := range t.Notes {
		names, is := strings.CutPrefix(strings.TrimSuffix(note, "."), begins)
		if !is {
			continue
		}
		if !slices.Contains(strings.Split(names, ", "), name) {
			t.Notes[i] = fmt.Sprintf("%s%s, %s.", begins, names, name)
		}
		return
	}
	t.Notes = append(t.Notes, begins+name+".")
}
