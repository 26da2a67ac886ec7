package kernel

import "github.com/lethe-ml/lethe/lib/report"

// words is a table of texts.
func words(title string, columns ...string) *report.Table {
	t := &report.Table{Title: title}
	for _, name := range columns {
		t.Columns = append(t.Columns, report.Column{Name: name})
	}
	return t
}

func row(cells ...string) report.Row {
	var r report.Row
	for _, s := range cells {
		r.Cells = append(r.Cells, report.Str(s))
	}
	return r
}
