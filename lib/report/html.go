// Tables as HTML.

package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
)

// HTML writes the table as plain HTML without scripts; it can be read without its styles.
// Alignment is given as an attribute and as a style, because JupyterLab overrides the attribute
// and other readers remove styles. The table is in a frame in which a wide table scrolls, with its
// first column fixed.
func (t *Table) HTML(w io.Writer) error {
	b := bufio.NewWriter(w)
	if err := t.writeHTML(b, false); err != nil {
		return err
	}
	return b.Flush()
}

// writeHTML writes the table. If labelled is true, cells carry the name of their column, which a
// page's style shows when rows are stacked.
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

// manyRows is the number of rows above which a narrow page puts the cells of a row side by side.
const manyRows = 30

// class returns the class attribute, or "" if it is not wanted.
func class(wanted bool, name string) string {
	if !wanted {
		return ""
	}
	return fmt.Sprintf(` class="%s"`, name)
}

// alignAttributes returns the attributes that align a cell's text, with further styles.
func alignAttributes(right bool, style string) string {
	word := "left"
	if right {
		word = "right"
	}
	return fmt.Sprintf(`align="%s" style="text-align: %[1]s%s"`, word, style)
}

// sticky returns the style that fixes the first column of a frame, with the background of the
// notebook.
func sticky(column int, labelled bool) string {
	if column > 0 || labelled {
		return ""
	}
	return "; position: sticky; left: 0; background: var(--jp-layout-color0, var(--vscode-editor-background, Canvas))"
}

// writeHTMLRow writes a line: headings bold; separators and the names of controls and of the
// paper's rows in italics. labels, if not nil, are the names of the columns.
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

// interval matches an interval with a space between its ends.
var interval = regexp.MustCompile(`(\[[^\[\] ]+,) ([^\[\] ]+\])`)

// keepIntervals keeps both ends of an interval on one line.
func keepIntervals(s string) string { return interval.ReplaceAllString(s, "$1\u00a0$2") }

// writeHTMLFoot writes the notes of columns, the footnotes and the provenance.
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

// EscapeHTML escapes s for HTML. Names may come from an untrusted file.
func EscapeHTML(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(s)), "\n", "<br>")
}
