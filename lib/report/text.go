package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// minWidth is the width to which captions and notes are wrapped when the table
// itself is narrower.
const minWidth = 76

// Text writes the table for people: columns aligned by the width of their
// characters on screen, nothing cut off, controls and the paper's values set
// apart by a labelled line, then the notes and the provenance. Where w is a
// terminal, the table fits it, as with TextWithin.
func (t *Table) Text(w io.Writer) error { return t.TextWithin(w, screenOf(w)) }

// TextWithin writes the table as Text does, in lines of at most limit characters
// where that can be done; 0 is no limit. Long words of columns go over several
// lines, and columns for which there is no room stand below, after the first
// column again.
func (t *Table) TextWithin(w io.Writer, limit int) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	widths, right := t.widths(), t.rightAligned()
	t.narrow(widths, right, limit)
	parts := blocks(widths, limit)
	total := 0
	for _, columns := range parts {
		total = max(total, spanOf(pick(widths, columns)))
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
	for i, columns := range parts {
		if i > 0 {
			b.WriteByte('\n')
		}
		t.writeBlock(b, columns, pick(widths, columns), pick(right, columns))
	}
	t.writeFoot(b, wrapAt)
	return b.Flush()
}

// writeBlock writes some of the columns.
func (t *Table) writeBlock(b *bufio.Writer, columns, widths []int, right []bool) {
	total := spanOf(widths)
	writeCells(b, pick(t.heads(), columns), widths, right)
	fmt.Fprintln(b, strings.Repeat("\u2500", total))
	for i, l := range t.lines() {
		switch {
		case l.cells != nil:
			writeCells(b, pick(l.cells, columns), widths, right)
		case l.kind == Header:
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintln(b, clean(l.span))
		default:
			label := "\u2504\u2504 " + l.span + " "
			fmt.Fprintln(b, label+strings.Repeat("\u2504", max(0, total-uniseg.StringWidth(label))))
		}
	}
	fmt.Fprintln(b, strings.Repeat("\u2500", total))
}

func (t *Table) writeFoot(b *bufio.Writer, wrapAt int) {
	for _, c := range t.explained() {
		writeParagraph(b, clean(c.Name)+": ", clean(c.Note), wrapAt)
	}
	for i, n := range t.Footnotes() {
		writeParagraph(b, fmt.Sprintf("(%d) ", i+1), clean(n), wrapAt)
	}
	for _, it := range t.Provenance.items() {
		fmt.Fprintf(b, "%s: %s\n", clean(it[0]), clean(it[1]))
	}
}

// widths is the width on screen of each column.
func (t *Table) widths() []int {
	out := make([]int, len(t.Columns))
	widen := func(cells []string) {
		for j, s := range cells {
			out[j] = max(out[j], uniseg.StringWidth(clean(s)))
		}
	}
	widen(t.heads())
	for _, l := range t.lines() {
		widen(l.cells)
	}
	return out
}

// writeCells writes a row, over as many lines as its cells need.
func writeCells(b *bufio.Writer, cells []string, widths []int, right []bool) {
	lines := make([][]string, len(cells))
	high := 0
	for j, cell := range cells {
		lines[j] = []string{clean(cell)}
		if uniseg.StringWidth(lines[j][0]) > widths[j] {
			lines[j] = Wrap(lines[j][0], widths[j])
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

// writeParagraph wraps text at spaces; lines after the first are indented as
// far as the label of the first.
func writeParagraph(b *bufio.Writer, label, text string, width int) {
	if text == "" {
		return
	}
	indent := uniseg.StringWidth(label)
	for _, line := range Wrap(text, width-indent) {
		fmt.Fprintln(b, label+line)
		label = strings.Repeat(" ", indent)
	}
}

// clean puts a string on one line and takes out what could steer a terminal:
// names of data sets and methods may come from a stranger's file.
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
