package lenses

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Table looks at every method and control of every case through every lens:
// value, interval and call in each cell, and in the last column where the
// lenses disagree. Cases whose data are not on this machine are left out and
// named.
func Table(ctx context.Context, e *paper.Env, cases []Named, scale string) (*report.Table, error) {
	t := &report.Table{
		ID: id, Title: title,
		Caption: doc,
		Columns: []report.Column{{Name: "model"}},
	}
	for _, lens := range audit.Lenses() {
		t.Columns = append(t.Columns, report.Column{Name: lens.Name(), Note: lens.About()})
	}
	t.Columns = append(t.Columns, report.Column{Name: "together"})
	for _, n := range cases {
		err := add(ctx, e.Lab(), t, n)
		if errors.Is(err, datasets.ErrMissing) {
			t.Notes = append(t.Notes, fmt.Sprintf("Left out, its file is not on this machine: %s. Get it with: lethe data get %s", n.DataSet, n.DataSet))
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	t.Notes = append(t.Notes,
		"M2 of the oracle against itself is 0 exactly, so that the lens 'against the oracle' is hardly ever blind, however small the "+
			"difference. The row 'retrained, other seed' shows how it can place a perfect unlearner.",
		"One training seed per case; intervals are over records, those of the lens subsets over draws of references.",
		"'neggrad' stands twice: at the paper's learning rate, and at four times that rate.")
	t.Provenance.Scale, t.Provenance.Seeds = scale, []int64{int64(e.Shift)}
	t.Provenance.Command = paper.Command(id, scale)
	return t, nil
}

// add adds a case to the table.
func add(ctx context.Context, l *lab.Lab, t *report.Table, n Named) error {
	c, err := audit.Open(ctx, l, n.Setting)
	if err != nil {
		return err
	}
	c.Through = audit.Lenses()
	var methods []unlearn.Method
	for _, a := range arms(n.Setting) {
		methods = append(methods, a.Method)
	}
	if err := c.Ahead(ctx, methods...); err != nil {
		return err
	}
	models := []*audit.Model{c.Original, c.Oracle}
	for _, a := range arms(n.Setting)[len(models):] {
		m, err := c.Arm(ctx, a)
		if err != nil {
			return err
		}
		models = append(models, m)
	}
	rows, err := c.CallRows(fmt.Sprintf("%s: %s (%d)", n.DataSet, n.Name, len(c.Forget)), models)
	if err != nil {
		return err
	}
	t.Rows = append(t.Rows, rows...)
	p := c.Provenance()
	if t.Provenance.Data == nil {
		t.Provenance = p
		t.Provenance.Data = map[string]string{} // filled below, while p's is read
	}
	for name, hash := range p.Data {
		if c.OfImages() { // there may be several draws of one set
			name = fmt.Sprintf("%s, %d images", name, c.Train.X.Rows)
		}
		t.Provenance.Data[name] = hash
	}
	if c.Problem.About.Synthetic && !slices.Contains(t.Notes, generatedNote) {
		t.Notes = append(t.Notes, generatedNote)
	}
	return nil
}

const generatedNote = "moons_island, tabular_outliers, blobs_duplicates and glyphs are generated."
