package nb

import (
	"fmt"
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// Table shows a table: in a notebook as HTML, with Markdown and plain text as other forms; in a
// terminal as plain text. A click on a column's head sorts the rows where scripts run; the table is
// complete without them. A table that cannot be shown ends the cell.
func Table(t *report.Table) {
	Check(std.table(t, ""))
}

func (s *outputTarget) table(t *report.Table, id string) error {
	o, text, err := tableOutput(t)
	if err != nil {
		return err
	}
	o.id = id
	s.show(o, text+"\n")
	return nil
}

func tableOutput(t *report.Table) (output, string, error) {
	if t == nil {
		return output{}, "", fmt.Errorf("there is no table to show: it is nil")
	}
	var text, markdown, html strings.Builder
	if err := t.Text(&text); err != nil {
		return output{}, "", err
	}
	if err := t.Markdown(&markdown); err != nil {
		return output{}, "", err
	}
	if err := t.HTML(&html); err != nil {
		return output{}, "", err
	}
	fmt.Fprintf(&html, "<script>\n%s</script>\n", report.TableScript())
	return output{data: bundle{
		"text/plain":    text.String(),
		"text/markdown": markdown.String(),
		"text/html":     html.String(),
	}}, text.String(), nil
}
