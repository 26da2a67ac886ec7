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

// Text writes the table for a terminal: columns aligned by the width of their
// characters on screen, nothing cut off, controls and the paper's values set
// apart by a labelled line, then the notes and the provenance.
func (t *Table) Text(w io.Writer) error {
	if err := t.Check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	widths, right := t.widths(), t.rightAligned()
	total := 2 * (len(widths) - 1)
	for _, n := range widths {
		total += n
	}
	wrapAt := min(max(total, minWidth), 110)

	writeParagraph(b, "", clean(t.Title), wrapAt)
	writeParagraph(b, "", clean(t.Caption), wrapAt)
	if t.Title+t.Caption != "" {
		b.WriteByte('\n')
	}
	writeCells(b, t.heads(), widths, right)
	fmt.Fprintln(b, strings.Repeat("\u2500", total))
	for i, l := range t.lines() {
		switch {
		case l.cells != nil:
			writeCells(b, l.cells, widths, right)
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
	t.writeFoot(b, wrapAt)
	return b.Flush()
}

func (t *Table) writeFoot(b *bufio.Writer, wrapAt int) {
	for _, c := range t.explained() {
		writeParagraph(b, clean(c.Name)+": ", clean(c.Note), wrapAt)
	}
	for i, n := range t.Notes {
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

func writeCells(b *bufio.Writer, cells []string, widths []int, right []bool) {
	var s strings.Builder
	for j, cell := range cells {
		if j > 0 {
			s.WriteString("  ")
		}
		cell = clean(cell)
		pad := strings.Repeat(" ", widths[j]-uniseg.StringWidth(cell))
		if right[j] {
			s.WriteString(pad + cell)
		} else {
			s.WriteString(cell + pad)
		}
	}
	fmt.Fprintln(b, strings.TrimRight(s.String(), " "))
}

// writeParagraph wraps text at spaces; lines after the first are indented as
// far as the label of the first.
func writeParagraph(b *bufio.Writer, label, text string, width int) {
	if text == "" {
		return
	}
	indent := strings.Repeat(" ", uniseg.StringWidth(label))
	cur, n := label, 0
	for _, word := range strings.Fields(text) {
		if n > 0 && uniseg.StringWidth(cur)+1+uniseg.StringWidth(word) > width {
			fmt.Fprintln(b, cur)
			cur, n = indent, 0
		}
		if n > 0 {
			cur += " "
		}
		cur += word
		n++
	}
	fmt.Fprintln(b, cur)
}

// clean puts a string on one line and takes out what could steer a terminal:
// names of data sets and methods may come from a stranger's file.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r) || isBidi(r):
			return '\ufffd'
		}
		return r
	}, s)
}

// isBidi finds the characters that turn the reading direction around and so
// could make a number read as another one.
func isBidi(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u200e' || r == '\u200f'
}
