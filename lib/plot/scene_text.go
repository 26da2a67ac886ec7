// Scenes as plain text: marks in a raster of characters, or on a ruler per line.

package plot

import (
	"cmp"
	"strings"
)

// text prints the scene with its notes.
func (s scene) text() string {
	var b strings.Builder
	switch {
	case s.plain != nil:
		for _, l := range s.plain {
			writeLine(&b, l)
		}
	case s.lines != nil:
		s.writeLines(&b)
	default:
		s.raster().write(&b, s.x.Label, s.y.Label)
	}
	for _, n := range s.notes {
		writeLine(&b, n)
	}
	return b.String()
}

// raster draws the marks that have a sign: first lines from edge to edge, which cover no data.
func (s scene) raster() *raster {
	r := newRaster(s.x.span, s.y.span, s.x.Log, s.y.Log)
	for _, m := range s.marks {
		if m.kind == rules && m.sign != 0 {
			r.horizontalLine(m.rows[0].number(m.y), m.sign)
		}
	}
	for _, m := range s.marks {
		switch m.kind {
		case picture:
			r.fill(m.letter)
		case paths:
			m.bySeries(func(_ int, rows []datum) { r.line(numbers(rows, m.x), numbers(rows, m.y), m.signOf(rows[0])) })
		case points, diamonds:
			for _, d := range m.rows {
				r.set(d.number(m.x), d.number(m.y), m.signOf(d))
			}
		}
	}
	return r
}

// signOf returns the character of a row.
func (m mark) signOf(d datum) rune { return cmp.Or(d.sign, m.sign) }

// numbers returns a column of rows.
func numbers(rows []datum, column string) []float64 {
	out := make([]float64, len(rows))
	for i, d := range rows {
		out[i] = d.number(column)
	}
	return out
}

// writeLines prints a ruler with its marks and the cells for every line. Cells of numbers end
// below each other; a single cell begins there.
func (s scene) writeLines(b *strings.Builder) {
	r := ruler{s: s.x.span, log: s.x.Log, cols: textWidth}
	if s.groups != nil {
		r.s, r.log = s.y.span, s.y.Log
	}
	var names []string
	widths := make([]int, len(s.heads))
	for _, l := range s.lines {
		if l.heading {
			continue
		}
		names = append(names, l.text())
		for j, cell := range l.cells {
			if cell != "" {
				widths[j] = max(widths[j], widest(cell, s.heads[j]))
			}
		}
	}
	w := widest(names...) + 2
	if s.top != "" {
		writeLine(b, strings.Repeat(" ", w), oneLine(s.top))
	}
	writeLine(b, strings.Repeat(" ", w), r.scale(), textCells(s.heads, widths))
	for i, l := range s.lines {
		if l.heading {
			writeLine(b, oneLine(l.name))
			continue
		}
		writeLine(b, padRight(l.text(), w), s.ruled(r, i), textCells(l.cells, widths))
	}
}

func (l line) text() string {
	if l.indent {
		return "  " + oneLine(l.name)
	}
	return oneLine(l.name)
}

func textCells(cells []string, widths []int) string {
	if len(cells) == 1 {
		return "  " + oneLine(cells[0])
	}
	out := ""
	for j, w := range widths {
		if w > 0 {
			out += "  " + padLeft(oneLine(cells[j]), w)
		}
	}
	return out
}

// ruled returns the marks of a line on the ruler. Where several points fall on one character, it
// is a filled circle.
func (s scene) ruled(r ruler, i int) string {
	out := r.row(s.lines[i].null)
	for _, m := range s.marks {
		for _, d := range m.data() {
			if m.wide() || s.lineOf(d) != i {
				continue
			}
			value, end := d.number(m.x), d.number(m.x2)
			if s.groups != nil {
				value = d.number(m.y)
			}
			switch mark := m.signOf(d); {
			case mark == 0:
			case m.kind == rules:
				out.interval(value, end)
			case mark == '\u2022' && out.holds(value, mark, '\u25cf'):
				out.set(value, '\u25cf')
			default:
				out.set(value, mark)
			}
		}
	}
	return out.String()
}

// lineOf returns the number of the line that a row belongs to, -1 for none.
func (s scene) lineOf(d datum) int {
	if s.groups == nil {
		if i, ok := d.row["row"].(int); ok {
			return i
		}
		return -1
	}
	if g, ok := d.row["group"].(int); ok {
		return g*(len(s.series)+1) + 1 + d.series
	}
	return -1
}

// textLegend explains the characters of a text drawing.
func textLegend(null bool, marks string) string {
	if null {
		marks += "   \u250a null   \u2591 chance band"
	}
	return marks
}

// alignedRows returns the rows of a table as lines, the cells of each column ending below each
// other.
func alignedRows(rows [][]string) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for j, cell := range row {
			widths[j] = max(widths[j], widest(cell))
		}
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		for j, cell := range row {
			row[j] = padLeft(cell, widths[j])
		}
		out[i] = strings.Join(row, "  ")
	}
	return out
}
