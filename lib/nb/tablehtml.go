package nb

import (
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/lethe-ml/lethe/lib/report"
)

// kindLabels stand where the kind of rows changes.
var kindLabels = map[report.Kind]string{
	report.Method: "methods", report.Control: "controls", report.Paper: "printed in the paper",
}

// tableHTML is the table as plain HTML. Sides are given twice: JupyterLab's own
// style is stronger than the align attribute, and other readers take styles out.
func tableHTML(t *report.Table) string {
	var b strings.Builder
	if t.Title != "" {
		fmt.Fprintf(&b, "<p><strong>%s</strong></p>\n", escape(t.Title))
	}
	if t.Caption != "" {
		fmt.Fprintf(&b, "<p>%s</p>\n", escape(t.Caption))
	}
	sides := sides(t)
	b.WriteString("<table>\n<thead>\n<tr>")
	for j, c := range t.Columns {
		fmt.Fprintf(&b, "<th %s>%s</th>", side(sides[j]), escape(heading(c)))
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	writeRows(&b, t, sides)
	b.WriteString("</tbody>\n</table>\n")
	writeNotes(&b, t)
	return b.String()
}

// heading is a column's name with its unit; a column of a paper's values says so.
func heading(c report.Column) string {
	s := c.Name
	if c.Unit != "" {
		s += " (" + c.Unit + ")"
	}
	if c.Paper {
		s = "paper: " + s
	}
	return s
}

// sides says for each column whether its cells stand left or right.
func sides(t *report.Table) []report.Align {
	out := make([]report.Align, len(t.Columns))
	for j, c := range t.Columns {
		out[j] = c.Align
		if c.Align != report.AlignAuto {
			continue
		}
		out[j] = report.AlignLeft
		for _, r := range t.Rows {
			if r.Kind == report.Header {
				continue
			}
			if c := r.Cells[j]; c.Value != nil || c.P != nil || c.Estimate != nil {
				out[j] = report.AlignRight
			}
		}
	}
	return out
}

// side are the attributes that put a cell's text on a side.
func side(a report.Align) string { return fmt.Sprintf(`align="%s" style="text-align: %[1]s"`, a) }

func writeRows(b *strings.Builder, t *report.Table, sides []report.Align) {
	group, kind := "", report.Method
	for _, r := range t.Rows {
		if r.Kind == report.Header || r.Group != group {
			group, kind = r.Group, report.Method
			if name := groupName(r); name != "" {
				writeSpan(b, len(sides), "strong", name)
			}
		}
		if r.Kind == report.Header {
			continue
		}
		if k := kindOf(r); k != kind {
			kind = k
			writeSpan(b, len(sides), "em", kindLabels[kind])
		}
		b.WriteString("<tr>")
		for j, c := range r.Cells {
			s := unbroken(cell(c))
			if j == 0 && r.Kind == report.Paper {
				s = "paper: " + s
			}
			fmt.Fprintf(b, "<td %s>%s</td>", side(sides[j]), emphasised(escape(s), j == 0 && kindOf(r) != report.Method))
		}
		b.WriteString("</tr>\n")
	}
}

func kindOf(r report.Row) report.Kind {
	if r.Kind == "" {
		return report.Method
	}
	return r.Kind
}

// groupName is the heading above a row: a header row's own text, or its group.
func groupName(r report.Row) string {
	if r.Kind == report.Header && len(r.Cells) == 1 && r.Cells[0].Text != "" {
		return r.Cells[0].Text
	}
	return r.Group
}

// cell is what a reader sees; a cell without a number says why.
func cell(c report.Cell) string {
	if c.Missing != "" {
		return "(" + c.Missing + ")"
	}
	return c.Text
}

// interval is the room between the two ends of an interval.
var interval = regexp.MustCompile(`(\[[^\[\] ]+,) ([^\[\] ]+\])`)

// unbroken keeps both ends of an interval on one line of a narrow column.
func unbroken(s string) string { return interval.ReplaceAllString(s, "$1\u00a0$2") }

func writeSpan(b *strings.Builder, columns int, tag, text string) {
	fmt.Fprintf(b, "<tr><td colspan=\"%d\" %s><%s>%s</%s></td></tr>\n", columns, side(report.AlignLeft), tag, escape(text), tag)
}

func emphasised(s string, on bool) string {
	if on && s != "" {
		return "<em>" + s + "</em>"
	}
	return s
}

// writeNotes puts the columns' notes, the table's and its origin below it.
func writeNotes(b *strings.Builder, t *report.Table) {
	said := map[string]bool{}
	for _, c := range t.Columns {
		if c.Note == "" || said[c.Note] {
			continue
		}
		said[c.Note] = true
		var names []string
		for _, other := range t.Columns {
			if other.Note == c.Note {
				names = append(names, other.Name)
			}
		}
		fmt.Fprintf(b, "<p><em>%s</em>: %s</p>\n", escape(strings.Join(names, "; ")), escape(c.Note))
	}
	if notes := t.Footnotes(); len(notes) > 0 {
		b.WriteString("<ol>\n")
		for _, n := range notes {
			fmt.Fprintf(b, "<li>%s</li>\n", escape(n))
		}
		b.WriteString("</ol>\n")
	}
	if line := t.Provenance.Line(); line != "" {
		fmt.Fprintf(b, "<p><sub>%s</sub></p>\n", escape(line))
	}
}

// escape shows s as it is; names may come from a stranger's file.
func escape(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(s)), "\n", "<br>")
}
