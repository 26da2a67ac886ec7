package command

import (
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// helpWidth is the length of the longest line of a command's long text.
const helpWidth = 80

// words is a table of texts.
func words(title string, columns ...string) *report.Table {
	return &report.Table{Title: title, Columns: report.Columns(columns...)}
}

func row(cells ...string) report.Row {
	var r report.Row
	for _, s := range cells {
		r.Cells = append(r.Cells, report.Str(s))
	}
	return r
}

// wrap breaks a paragraph into lines of at most helpWidth characters; a longer
// word has a line of its own.
func wrap(paragraph string) string { return strings.Join(report.Wrap(paragraph, helpWidth), "\n") }
