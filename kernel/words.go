package kernel

import (
	"strings"
	"unicode/utf8"

	"github.com/lethe-ml/lethe/lib/report"
)

// helpWidth is the length of the longest line of a command's long text.
const helpWidth = 80

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

// wrap breaks a paragraph into lines of at most helpWidth characters; a longer
// word has a line of its own.
func wrap(paragraph string) string {
	var lines []string
	for _, word := range strings.Fields(paragraph) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last]+" "+word) <= helpWidth {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return strings.Join(lines, "\n")
}
