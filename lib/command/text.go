// Text tables and line breaking.

package command

import (
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// helpWidth is the length of the longest line of a command's long text.
const helpWidth = 80

// textTable returns an empty table of texts.
func textTable(title string, columns ...string) *report.Table {
	return &report.Table{Title: title, Columns: report.Columns(columns...)}
}

func textRow(cells ...string) report.Row {
	var r report.Row
	for _, s := range cells {
		r.Cells = append(r.Cells, report.Str(s))
	}
	return r
}

// wrap breaks a paragraph into lines of at most helpWidth characters; a longer word has its
// own line.
func wrap(paragraph string) string { return strings.Join(report.Wrap(paragraph, helpWidth), "\n") }
