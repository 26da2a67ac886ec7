package nb

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

// Show shows parts below each other: a string as Markdown, a *report.Table, a plot.Figure.
// Any other type ends the cell. For a report:
//
//	nb.Show(r.Parts()...)
func Show(parts ...any) {
	for k, part := range parts {
		switch p := part.(type) {
		case string:
			Markdown(p)
		case *report.Table:
			Table(p)
		case plot.Figure:
			Figure(p)
		default:
			Check(unknownPart(k, part))
		}
	}
}

// unknownPart returns the error for a part that has no form on a page.
func unknownPart(k int, part any) error {
	return fmt.Errorf("part %d to show is a %T; a text, a table or a figure can be shown", k+1, part)
}
