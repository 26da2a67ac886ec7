package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

// HTML writes the table as plain HTML, without scripts or styles that it would not be read
// without. Sides are given twice: JupyterLab's own style is stronger than the align
// attribute, and other readers take styles out. The table stands in a frame: one that is
// wider scrolls there, and its first column stays in sight.
func (t *Table) HTML(w io.Writer) error {
	b := bufio.NewWriter(w)
	if err := t.writeHTML(b, false); err != nil {
		return err
	}
	return b.Flush()
}

// writeHTML writes the table. On a page its cells may say to which column they belong,
// which a style shows where rows are written below each other.
func (t *Table) writeHTML(b *bufio.Writer, labelled bool) error {
	if err := t.Check(); err != nil {
		return err
	}
	if t.Title != "" {
		fmt.Fprintf(b, "<p%s><strong>%s</strong></p>\n", class(labelled, "title"), EscapeHTML(t.Title))
	}
	if t.Caption != "" {
		fmt.Fprintf(b, "<p%s>%s</p>\n", class(labelled, "caption"), EscapeHTML(t.Caption))
	}
	right, heads := t.rightAligned(), t.heads()
	kind := "rows"
	if len(t.Rows) > manyRows {
		kind = "rows dense"
	}
	if !labelled { // a page has a frame of its own
		b.WriteString("<div style=\"overflow-x: auto\">\n")
	}
	fmt.Fprintf(b, "<table%s>\n<thead>\n<tr>", class(labelled && len(heads) > 2, kind))
	for j, head := range heads {
		fmt.Fprintf(b, `<th scope="col" %s>%s</th>`, alignAttributes(right[j], sticky(j, labelled)), EscapeHTML(head))
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	if !labelled {
		heads = nil
	}
	for _, l := range t.lines() {
		writeHTMLRow(b, l, right, heads)
	}
	b.WriteString("</tbody>\n</table>\n")
	if !labelled {
		b.WriteString("</div>\n")
	}
	t.writeHTMLFoot(b)
	return nil
}

// manyRows is from how many rows on a narrow page sets the cells of one beside each other.
const manyRows = 30

// class is the attribute, where it is wanted.
func class(wanted bool, name string) string {
	if !wanted {
		return ""
	}
	return fmt.Sprintf(` class="%s"`, name)
}

// alignAttributes are the attributes that put a cell's text on a side, with what else its style is.
func alignAttributes(right bool, style string) string {
	word := "left"
	if right {
		word = "right"
	}
	return fmt.Sprintf(`align="%s" style="text-align: %[1]s%s"`, word, style)
}

// sticky is the style by which the first column of a frame stays in sight, over the colour
// of the notebook that shows it.
func sticky(column int, labelled bool) string {
	if column > 0 || labelled {
		return ""
	}
	return "; position: sticky; left: 0; background: var(--jp-layout-color0, var(--vscode-editor-background, Canvas))"
}

// writeHTMLRow writes a line: headings bold, separators and the names of controls and of
// the paper's rows in italics. labels, where there are any, are the names of the columns.
func writeHTMLRow(b *bufio.Writer, l line, right []bool, labels []string) {
	if l.cells == nil {
		tag := "em"
		if l.kind == Header {
			tag = "strong"
		}
		fmt.Fprintf(b, "<tr><td%s colspan=\"%d\" %s><%s>%s</%s></td></tr>\n", class(labels != nil, "span"), len(right),
			alignAttributes(false, ""), tag, EscapeHTML(l.span), tag)
		return
	}
	b.WriteString("<tr>")
	for j, s := range l.cells {
		s = EscapeHTML(keepIntervals(s))
		if j == 0 && l.kind != Method && s != "" {
			s = "<em>" + s + "</em>"
		}
		if labels == nil {
			fmt.Fprintf(b, "<td %s>%s</td>", alignAttributes(right[j], sticky(j, false)), s)
			continue
		}
		fmt.Fprintf(b, "<td data-label=\"%s\" %s><span>%s</span></td>", EscapeHTML(labels[j]), alignAttributes(right[j], ""), s)
	}
	b.WriteString("</tr>\n")
}

// interval is the room between the two ends of an interval.
var interval = regexp.MustCompile(`(\[[^\[\] ]+,) ([^\[\] ]+\])`)

// keepIntervals keeps both ends of an interval on one line of a narrow column.
func keepIntervals(s string) string { return interval.ReplaceAllString(s, "$1\u00a0$2") }

// writeHTMLFoot puts the columns' notes, the table's and its origin below it.
func (t *Table) writeHTMLFoot(b *bufio.Writer) {
	for _, c := range t.columnNotes() {
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
