package paper

// Reading of committed tables and parts of them.

import (
	"fmt"
	"io/fs"
	"slices"

	"github.com/lethe-ml/lethe/lib/report"
)

// Committed reads the committed table of the recipe with that ID, for example "ruler/table1",
// from files (package figures). Its title says that it is a committed table, and at which scale.
func Committed(files fs.FS, id string) (*report.Table, error) {
	f, err := files.Open(id + ".json")
	if err != nil {
		return nil, fmt.Errorf("committed table %q: %w", id, err)
	}
	defer f.Close()
	t, err := report.ReadJSON(f)
	if err != nil {
		return nil, fmt.Errorf("committed table %q: %w", id, err)
	}
	t.Title += fmt.Sprintf(" (computed before, scale %s)", t.Provenance.Scale)
	return t, nil
}

// Excerpt is a part of a table: the named columns, in that order, and the rows for which keep is
// true; a nil keep takes all rows. If columns share a name, the first is used. Notes and
// provenance are kept.
func Excerpt(t *report.Table, keep func(report.Row) bool, columns ...string) (*report.Table, error) {
	part := *t
	part.Columns, part.Rows = nil, nil
	var at []int
	for _, name := range columns {
		i, err := columnOf(t, name)
		if err != nil {
			return nil, err
		}
		at = append(at, i)
		part.Columns = append(part.Columns, t.Columns[i])
	}
	for _, r := range t.Rows {
		if keep != nil && !keep(r) {
			continue
		}
		row := report.Row{Kind: r.Kind, Group: r.Group}
		if r.Kind == report.Header {
			row.Cells = r.Cells
		} else {
			for _, i := range at {
				row.Cells = append(row.Cells, r.Cells[i])
			}
		}
		part.Rows = append(part.Rows, row)
	}
	if len(part.Rows) == 0 {
		return nil, fmt.Errorf("table %s: no row is left", t.ID)
	}
	return &part, nil
}

func columnOf(t *report.Table, name string) (int, error) {
	i := slices.IndexFunc(t.Columns, func(c report.Column) bool { return c.Name == name })
	if i < 0 {
		return 0, fmt.Errorf("table %s has no column %q", t.ID, name)
	}
	return i, nil
}

// Number is the number in a column of a table, in the row of the group whose cells begin with the given words.
// Several columns of that name or several such rows are an error.
func Number(t *report.Table, column, group string, begins ...string) (float64, error) {
	c, err := CellAt(t, column, group, begins...)
	if err != nil {
		return 0, err
	}
	if c.Value == nil {
		return 0, fmt.Errorf("table %s: %q of %v holds %q, which is no number", t.ID, column, begins, c.Text+c.Missing)
	}
	return *c.Value, nil
}

// CellAt is the cell in a column of a table, in the row of the group whose cells begin with the given words.
// Several columns of that name or several such rows are an error.
func CellAt(t *report.Table, column, group string, begins ...string) (report.Cell, error) {
	i, err := columnOf(t, column)
	if err != nil {
		return report.Cell{}, err
	}
	if slices.ContainsFunc(t.Columns[i+1:], func(c report.Column) bool { return c.Name == column }) {
		return report.Cell{}, fmt.Errorf("table %s has several columns called %q", t.ID, column)
	}
	var found *report.Cell
	for _, r := range t.Rows {
		if r.Kind == report.Header || r.Group != group || len(r.Cells) < len(begins) {
			continue
		}
		same := true
		for k, word := range begins {
			same = same && r.Cells[k].Text == word
		}
		if !same {
			continue
		}
		if found != nil {
			return report.Cell{}, fmt.Errorf("table %s has several rows %v in the group %q", t.ID, begins, group)
		}
		found = &r.Cells[i]
	}
	if found == nil {
		return report.Cell{}, fmt.Errorf("table %s has no row %v in the group %q", t.ID, begins, group)
	}
	return *found, nil
}
