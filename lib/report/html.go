package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

// HTML writes the table as plain HTML, without scripts or styles that a sanitiser would
// take out. Sides are given twice: JupyterLab's own style is stronger than the align
// attribute, and other readers take styles out.
func (t *Table) HTML(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if t.Title != "" {
		fmt.Fprintf(b, "<p><strong>%s</strong></p>\n", EscapeHTML(t.Title))
	}
	if t.Caption != "" {
		fmt.Fprintf(b, "<p>%s</p>\n", EscapeHTML(t.Caption))
	}
	right := t.rightAligned()
	b.WriteString("<table>\n<thead>\n<tr>")
	for j, head := range t.heads() {
		fmt.Fprintf(b, `<th scope="col" %s>%s</th>`, side(right[j]), EscapeHTML(head))
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	for _, l := range t.lines() {
		writeHTMLRow(b, l, right)
	}
	b.WriteString("</tbody>\n</table>\n")
	t.writeHTMLFoot(b)
	return b.Flush()
}

// side are the attributes that put a cell's text on a side.
func side(right bool) string {
	word := "left"
	if right {
		word = "right"
	}
	return fmt.Sprintf(`align="%s" style="text-align: %[1]s"`, word)
}

// writeHTMLRow writes a line: headings bold, separators and the names of controls and of
// the paper's rows in italics.
func writeHTMLRow(b *bufio.Writer, l line, right []bool) {
	if l.cells == nil {
		tag := "em"
		if l.kind == Header {
			tag = "strong"
		}
		fmt.Fprintf(b, "<tr><td colspan=\"%d\" %s><%s>%s</%s></td></tr>\n", len(right), side(false), tag, EscapeHTML(l.span), tag)
		return
	}
	b.WriteString("<tr>")
	for j, s := range l.cells {
		s = EscapeHTML(unbroken(s))
		if j == 0 && l.kind != Method && s != "" {
			s = "<em>" + s + "</em>"
		}
		fmt.Fprintf(b, "<td %s>%s</td>", side(right[j]), s)
	}
	b.WriteString("</tr>\n")
}

// interval is the room between the two ends of an interval.
var interval = regexp.MustCompile(`(\[[^\[\] ]+,) ([^\[\] ]+\])`)

// unbroken keeps both ends of an interval on one line of a narrow column.
func unbroken(s string) string { return interval.ReplaceAllString(s, "$1\u00a0$2") }

// writeHTMLFoot puts the columns' notes, the table's and its origin below it.
func (t *Table) writeHTMLFoot(b *bufio.Writer) {
	for _, c := range t.explained() {
		fmt.Fprintf(b, "<p><em>%s</em>: %s</p>\n", EscapeHTML(c.Name), EscapeHTML(c.Note))
	}
	if notes := t.Footnotes(); len(notes) > 0 {
		b.WriteString("<ol>\n")
		for _, n := range notes {
			fmt.Fprintf(b, "<li>%s</li>\n", EscapeHTML(n))
		}
		b.WriteString("</ol>\n")
	}
	if line := t.Provenance.Line(); line != "" {
		fmt.Fprintf(b, "<p><sub>%s</sub></p>\n", EscapeHTML(line))
	}
}

// EscapeHTML shows s as it is; names may come from a stranger's file.
func EscapeHTML(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(s)), "\n", "<br>")
}
