// Tables as terminal text.

package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// minWidth is the least width to which captions and notes are wrapped.
const minWidth = 76

// Text writes the table as terminal text: columns aligned by the width of their characters on
// screen, nothing cut off, controls and the paper's values after a labelled line, then the notes
// and the provenance. If w is a terminal the table fits it, as with TextWithin.
func (t *Table) Text(w io.Writer) error { return t.TextWithin(w, terminalWidth(w)) }

// TextWithin writes the table as Text does, in lines of at most limit characters; 0 means no
// limit. Long cells take several lines. A table that is still too wide is divided into panels,
// which begin with the first column and state their columns. Under the table, long words such as
// hashes are not broken, so that they can be copied.
func (t *Table) TextWithin(w io.Writer, limit int) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	panels := t.panels(limit)
	total := 0
	for _, p := range panels {
		total = max(total, totalWidth(p.widths))
	}
	wrapAt := min(max(total, minWidth), 110)
	if limit > 0 {
		wrapAt = min(wrapAt, limit)
	}
	writeParagraph(b, "", clean(t.Title), wrapAt)
	writeParagraph(b, "", clean(t.Caption), wrapAt)
	if t.Title+t.Caption != "" {
		b.WriteByte('\n')
	}
	for i, p := range panels {
		if i > 0 {
			b.WriteByte('\n')
		}
		if len(panels) > 1 {
			fmt.Fprintln(b, p.heading(len(t.Columns)))
		}
		t.writePanel(b, p, limit)
	}
	t.writeFoot(b, wrapAt)
	return b.Flush()
}

// heading returns which columns of the table a panel holds besides the first.
func (p panel) heading(total int) string {
	first, last := p.columns[1]+1, p.columns[len(p.columns)-1]+1
	if first == last {
		return fmt.Sprintf("column %d of %d", first, total)
	}
	return fmt.Sprintf("columns %d to %d of %d", first, last, total)
}

// writePanel writes a panel. Headings over rows are wrapped to limit too.
func (t *Table) writePanel(b *bufio.Writer, p panel, limit int) {
	total, right := totalWidth(p.widths), elementsAt(t.rightAligned(), p.columns)
	writeCells(b, elementsAt(t.heads(), p.columns), p.widths, right)
	fmt.Fprintln(b, strings.Repeat("\u2500", total))
	for i, l := range t.lines() {
		switch {
		case l.cells != nil:
			writeCells(b, elementsAt(l.marked, p.columns), p.widths, right)
		case l.kind == Header:
			if i > 0 {
				b.WriteByte('\n')
			}
			heading := []string{clean(l.span)}
			if limit > 0 {
				heading = Wrap(breakLongWords(heading[0], limit), limit)
			}
			fmt.Fprintln(b, strings.Join(heading, "\n"))
		default:
			label := "\u2504\u2504 " + l.span + " "
			fmt.Fprintln(b, label+strings.Repeat("\u2504", max(0, total-uniseg.StringWidth(label))))
		}
	}
	fmt.Fprintln(b, strings.Repeat("\u2500", total))
}

func (t *Table) writeFoot(b *bufio.Writer, wrapAt int) {
	for _, c := range t.columnNotes() {
		writeParagraph(b, clean(c.Name)+": ", clean(c.Note), wrapAt)
	}
	for i, n := range t.Footnotes() {
		writeParagraph(b, fmt.Sprintf("(%d) ", i+1), clean(n), wrapAt)
	}
	for _, it := range t.Provenance.items() {
		fmt.Fprintf(b, "%s: %s\n", clean(it[0]), clean(it[1]))
	}
}

// writeCells writes a row, over as many lines as its cells need.
func writeCells(b *bufio.Writer, cells []string, widths []int, right []bool) {
	lines := make([][]string, len(cells))
	high := 0
	for j, cell := range cells {
		lines[j] = []string{clean(cell)}
		if uniseg.StringWidth(lines[j][0]) > widths[j] {
			lines[j] = Wrap(breakLongWords(lines[j][0], widths[j]), widths[j])
		}
		high = max(high, len(lines[j]))
	}
	for i := range high {
		var s strings.Builder
		for j := range cells {
			if j > 0 {
				s.WriteString(strings.Repeat(" ", gap))
			}
			cell := ""
			if i < len(lines[j]) {
				cell = lines[j][i]
			}
			pad := strings.Repeat(" ", max(0, widths[j]-uniseg.StringWidth(cell)))
			if right[j] {
				s.WriteString(pad + cell)
			} else {
				s.WriteString(cell + pad)
			}
		}
		fmt.Fprintln(b, strings.TrimRight(s.String(), " "))
	}
}

// writeParagraph wraps text at spaces and indents further lines by the width of label.
func writeParagraph(b *bufio.Writer, label, text string, width int) {
	if text == "" {
		return
	}
	indent := uniseg.StringWidth(label)
	for _, line := range wrapKeepingNumbers(text, width-indent) {
		fmt.Fprintln(b, label+line)
		label = strings.Repeat(" ", indent)
	}
}

// clean replaces line breaks by spaces and control characters by U+FFFD, because names may come
// from an untrusted file.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return '\ufffd'
		}
		return r
	}, s)
}
