// Tables as HTML.

package report

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

//go:embed table.js
var tableScript string

// TableScript sorts the rows of a table that HTML wrote by a click on a column's head, and shows a
// clipped text by a click on it. It may be loaded more than once, and works for tables that come
// later. A table without it is complete.
func TableScript() string {
	return scriptComments.ReplaceAllString(tableScript, "")
}

// scriptComments matches comments on lines of their own, and indents.
var scriptComments = regexp.MustCompile(`(?m)^ *(//.*\n)?`)

// HTML writes the table as plain HTML without scripts; it can be read without its styles. The
// styles are attributes, because JupyterLab drops style elements in a notebook that is not trusted,
// and overrides others. A wide table scrolls in a frame with its first column fixed, rows have one
// height, and controls are grey on a light page and on a dark one.
func (t *Table) HTML(w io.Writer) error {
	b := bufio.NewWriter(w)
	if err := t.writeHTML(b, false); err != nil {
		return err
	}
	return b.Flush()
}

// writeHTML writes the table. If labelled is true it is for a Page, whose style sheet does what the
// attributes do elsewhere; cells carry the name of their column, which is shown when rows are
// stacked.
func (t *Table) writeHTML(b *bufio.Writer, labelled bool) error {
	if err := t.Check(); err != nil {
		return err
	}
	if t.Title != "" {
		fmt.Fprintf(b, "<p%s><strong>%s</strong></p>\n", class(labelled, "title"), TextHTML(t.Title))
	}
	if t.Caption != "" {
		fmt.Fprintf(b, "<p%s>%s</p>\n", class(labelled, "caption"), TextHTML(t.Caption))
	}
	right, heads := t.rightAligned(), t.heads()
	kind := "rows"
	if len(t.Rows) > manyRows {
		kind = "rows dense"
	}
	if labelled {
		fmt.Fprintf(b, "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table%s>\n<thead>\n<tr>",
			EscapeHTML(cmp.Or(t.Title, strings.Join(heads, ", "))), class(len(heads) > 2, kind))
	} else {
		b.WriteString("<div style=\"overflow-x: auto\">\n<table class=\"lethe-table\">\n<thead>\n<tr>")
	}
	for j, head := range heads {
		style := ""
		if !labelled {
			style = "; vertical-align: bottom" + fixed(j, false)
		}
		fmt.Fprintf(b, `<th scope="col" %s>%s</th>`, alignAttributes(right[j], style), TextHTML(head))
	}
	b.WriteString("</tr>\n</thead>\n<tbody>\n")
	for _, l := range t.lines() {
		if labelled {
			writePageRow(b, l, right, heads)
		} else {
			writeNotebookRow(b, l, right)
		}
	}
	b.WriteString("</tbody>\n</table>\n</div>\n")
	t.writeHTMLFoot(b)
	return nil
}

// manyRows is the number of rows above which a narrow page puts the cells of a row side by side.
const manyRows = 30

// The backgrounds of rows in a notebook. JupyterLab makes every second row grey, so that each row
// needs a background of its own. In a notebook that is not trusted it drops colours of the theme,
// and keeps these. The grey is seen on a light page and on a dark one.
const (
	plainRow   = "transparent"
	controlRow = "rgba(128, 128, 128, 0.2)"
)

// pageColour is the background of the page, behind a column that stays in view.
const pageColour = "var(--jp-layout-color0, var(--vscode-editor-background, Canvas))"

// clipAt is the number of characters above which a text in a cell is clipped to one line of
// clipWidth; the whole text is its title. A page, which is printed too, breaks it into lines.
const (
	clipAt    = 60
	clipWidth = "40em"
)

// class returns the class attribute, or "" if it is not wanted.
func class(wanted bool, name string) string {
	if !wanted {
		return ""
	}
	return fmt.Sprintf(` class="%s"`, name)
}

// alignAttributes returns the attributes that align a cell's text, with further styles. Alignment
// is an attribute too, for readers that remove styles.
func alignAttributes(right bool, style string) string {
	word := "left"
	if right {
		word = "right"
	}
	return fmt.Sprintf(`align="%s" style="text-align: %[1]s%s"`, word, style)
}

// fixed returns the style that fixes the first column of a frame. On a narrow screen it leaves
// most of the width to the others.
func fixed(column int, control bool) string {
	if column > 0 {
		return ""
	}
	background := pageColour
	if control {
		background = "linear-gradient(" + controlRow + ", " + controlRow + "), " + pageColour
	}
	return "; position: sticky; left: 0; background: " + background + "; max-width: 34vw; overflow: hidden; text-overflow: ellipsis"
}

// writeNotebookRow writes a line with all its styles. The names of separators stay in view when the
// table scrolls.
func writeNotebookRow(b *bufio.Writer, l line, right []bool) {
	colour := plainRow
	if l.kind == Control {
		colour = controlRow
	}
	fmt.Fprintf(b, "<tr%s style=\"background: %s\">", class(l.kind == Control, "control"), colour)
	if l.cells == nil {
		tag := spanTag(l.kind)
		fmt.Fprintf(b, "<td colspan=\"%d\" %s><%s style=\"display: inline-block; position: sticky; left: 0.5em\">%s</%s></td></tr>\n",
			len(right), alignAttributes(false, ""), tag, TextHTML(l.span), tag)
		return
	}
	for j := range l.cells {
		style, title := "; white-space: nowrap"+fixed(j, l.kind == Control), ""
		if n := utf8.RuneCountInString(l.cells[j]); n > clipAt || j == 0 && n > clipAt/3 {
			title = fmt.Sprintf(` title="%s"`, EscapeHTML(l.cells[j]))
			if j > 0 {
				style += "; max-width: " + clipWidth + "; overflow: hidden; text-overflow: ellipsis"
			}
		}
		fmt.Fprintf(b, "<td %s%s>%s</td>", alignAttributes(right[j], style), title, l.cellHTML(j))
	}
	b.WriteString("</tr>\n")
}

// writePageRow writes a line for a page; labels are the names of the columns.
func writePageRow(b *bufio.Writer, l line, right []bool, labels []string) {
	b.WriteString("<tr" + class(l.kind == Control, "control") + ">")
	if l.cells == nil {
		tag := spanTag(l.kind)
		fmt.Fprintf(b, "<td class=\"span\" colspan=\"%d\" %s><%s>%s</%s></td></tr>\n", len(right), alignAttributes(false, ""), tag, TextHTML(l.span), tag)
		return
	}
	for j := range l.cells {
		fmt.Fprintf(b, "<td data-label=\"%s\" %s><span%s>%s</span></td>", EscapeHTML(labels[j]), alignAttributes(right[j], ""),
			class(utf8.RuneCountInString(l.cells[j]) > clipAt, "long"), l.cellHTML(j))
	}
	b.WriteString("</tr>\n")
}

// spanTag returns the element of a text that spans the table: bold for headings, italics for
// separators.
func spanTag(kind Kind) string {
	if kind == Header {
		return "strong"
	}
	return "em"
}

// cellHTML returns the content of cell j: a verdict on a plate of its colour; the names of controls
// and of the paper's rows in italics.
func (l line) cellHTML(j int) string {
	c := l.row.Cells[j]
	s := TextHTML(l.cells[j])
	if c.Verdict != "" {
		s = strings.TrimLeft(TextHTML(c.beforeVerdict())+" "+verdicts[c.Verdict].html(c.Verdict), " ")
	}
	if j == 0 && l.kind != Method && s != "" {
		return "<em>" + s + "</em>"
	}
	return s
}

// The places inside a number at which a line must not be broken: between the ends of an interval,
// between a number and its interval, and before a per cent sign.
var (
	insideInterval = regexp.MustCompile(`(\[[^\[\] ]+,) ([^\[\] ]+\])`)
	beforeInterval = regexp.MustCompile(`(\d) (\[[^\[\]\pL]+\])`)
	beforePercent  = regexp.MustCompile(`(\d) (%)`)
)

// KeepNumbers returns a text with no-break spaces inside its numbers: between the ends of an
// interval, between a number and its interval, and before a per cent sign.
func KeepNumbers(s string) string {
	for _, r := range []*regexp.Regexp{insideInterval, beforeInterval, beforePercent} {
		s = r.ReplaceAllString(s, "$1\u00a0$2")
	}
	return s
}

// TextHTML returns s as the text of an element; its numbers stay on one line.
func TextHTML(s string) string { return EscapeHTML(KeepNumbers(s)) }

// writeHTMLFoot writes the notes of columns, the footnotes and the provenance.
func (t *Table) writeHTMLFoot(b *bufio.Writer) {
	for _, c := range t.columnNotes() {
		fmt.Fprintf(b, "<p><em>%s</em>: %s</p>\n", TextHTML(c.Name), TextHTML(c.Note))
	}
	if notes := t.Footnotes(); len(notes) > 0 {
		b.WriteString("<ol>\n")
		for _, n := range notes {
			fmt.Fprintf(b, "<li>%s</li>\n", TextHTML(n))
		}
		b.WriteString("</ol>\n")
	}
	if line := t.Provenance.Line(); line != "" {
		fmt.Fprintf(b, "<p><sub>%s</sub></p>\n", TextHTML(line))
	}
}

// EscapeHTML escapes s for HTML. Names may come from an untrusted file.
func EscapeHTML(s string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(s)), "\n", "<br>")
}
