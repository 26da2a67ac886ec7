// Tables as Markdown.

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Markdown writes the table as a GitHub table with its title, caption, notes and provenance.
// Markup in texts is escaped; a line break in a cell becomes <br>.
func (t *Table) Markdown(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	if t.Title != "" {
		fmt.Fprintf(b, "**%s**\n\n", escape(t.Title))
	}
	if t.Caption != "" {
		fmt.Fprintf(b, "%s\n\n", escapeStart(escape(t.Caption)))
	}
	writeMarkdownRow(b, escapeAll(t.heads()))
	rules := make([]string, len(t.Columns))
	for j, right := range t.rightAligned() {
		rules[j] = ":---"
		if right {
			rules[j] = "---:"
		}
	}
	writeMarkdownRow(b, rules)
	for _, l := range t.lines() {
		writeMarkdownRow(b, t.markdownCells(l))
	}
	t.writeMarkdownFoot(b)
	return b.Flush()
}

// markdownCells returns the line as escaped cells: headings bold; separators and the names of
// controls and of the paper's rows in italics.
func (t *Table) markdownCells(l line) []string {
	if l.cells == nil {
		cells := make([]string, len(t.Columns))
		mark := "**"
		if l.kind != Header {
			mark = "*"
		}
		cells[0] = emphasise(mark, escape(l.span))
		return cells
	}
	cells := escapeAll(l.cells)
	if l.kind != Method {
		cells[0] = emphasise("*", cells[0])
	}
	return cells
}

func (t *Table) writeMarkdownFoot(b *bufio.Writer) {
	for _, c := range t.columnNotes() {
		fmt.Fprintf(b, "\n%s: %s\n", emphasise("*", escape(c.Name)), escape(c.Note))
	}
	notes := t.Footnotes()
	if len(notes) > 0 {
		b.WriteByte('\n')
	}
	for i, n := range notes {
		fmt.Fprintf(b, "%d. %s\n", i+1, escapeStart(escape(n)))
	}
	items := t.Provenance.items()
	if len(items) == 0 {
		return
	}
	b.WriteString("\n<sub>")
	for i, it := range items {
		if i > 0 {
			b.WriteString("<br>")
		}
		fmt.Fprintf(b, "%s: %s", escape(it[0]), escape(it[1]))
	}
	b.WriteString("</sub>\n")
}

func writeMarkdownRow(b *bufio.Writer, cells []string) {
	b.WriteByte('|')
	for _, c := range cells {
		if c == "" {
			b.WriteString(" |")
			continue
		}
		b.WriteString(" " + c + " |")
	}
	b.WriteByte('\n')
}

// emphasise wraps s in mark; spaces inside the marks would end the emphasis.
func emphasise(mark, s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	return mark + s + mark
}

var markdownEscapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "~", `\~`, "$", `\$`,
	"](", `]\(`, "][", `]\[`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
)

// escape returns Markdown that shows s literally.
func escape(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n").Replace(s)
	parts := strings.Split(strings.Trim(s, "\n"), "\n")
	for i, p := range parts {
		parts[i] = markdownEscapes.Replace(clean(p))
	}
	return strings.Join(parts, "<br>")
}

func escapeAll(cells []string) []string {
	out := make([]string, len(cells))
	for j, s := range cells {
		out[j] = escape(s)
	}
	return out
}

// escapeStart keeps the first characters of a paragraph from being read as a
// heading, a list or an indented block.
func escapeStart(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return s
	}
	if strings.ContainsRune("#+-=", rune(s[0])) {
		return `\` + s
	}
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')') {
		return s[:digits] + `\` + s[digits:]
	}
	return s
}
