// Heat maps.

package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heatmap shows a matrix as colours, with the number in each cell. With a null the colours diverge
// from it, blue below and orange above; without one they run from light to dark.
type Heatmap struct {
	Meta
	X, Y          Axis   // only their labels are used
	Value         string // what the colours show, with its unit
	Rows, Columns []string
	Values        [][]float64 // one slice per row
	Missing       [][]string  // reasons why a cell has no value; may be nil
	Null          *float64
	Min, Max      *float64 // limits of the colours
	Digits        int      // after the point; 0 means 2
}

var _ Figure = Heatmap{}

// Render implements Figure.
func (h Heatmap) Render(w io.Writer, format string) error { return render(h, w, format) }

// PNG implements Figure.
func (h Heatmap) PNG() ([]byte, error) { return renderPNG(h) }

// Text implements Figure.
func (h Heatmap) Text() string { return asText(h) }

func (h Heatmap) check() error {
	var p problems
	p.refuse(len(h.Rows) == 0 || len(h.Columns) == 0, noData)
	p.refuse(len(h.Values) != len(h.Rows), "%d rows of values for %d names", len(h.Values), len(h.Rows))
	p.refuse(h.Missing != nil && len(h.Missing) != len(h.Rows), "%d rows of missing cells for %d names", len(h.Missing), len(h.Rows))
	if p.err != nil {
		return p.err
	}
	for i, row := range h.Values {
		p.refuse(len(row) != len(h.Columns), "row %q has %d values for %d columns", h.Rows[i], len(row), len(h.Columns))
		if h.Missing != nil {
			p.refuse(len(h.Missing[i]) != len(h.Columns), "row %q has %d missing cells for %d columns", h.Rows[i], len(h.Missing[i]), len(h.Columns))
		}
		for j, v := range row {
			if p.err == nil && h.missing(i, j) == "" {
				p.value(v, false, "row %q, column %q", h.Rows[i], h.Columns[j])
			}
		}
	}
	p.optional(h.Null, false, "null")
	Axis{Min: h.Min, Max: h.Max}.check(&p, "colour")
	return p.err
}

func (h Heatmap) missing(i, j int) string {
	if h.Missing == nil {
		return ""
	}
	return h.Missing[i][j]
}

// colours returns the range of the colours, symmetric around a null.
func (h Heatmap) colours() span {
	s := newSpan()
	for i, row := range h.Values {
		for j, v := range row {
			if h.missing(i, j) == "" {
				s.add(v)
			}
		}
	}
	if h.Min != nil {
		s.lo = *h.Min
	}
	if h.Max != nil {
		s.hi = *h.Max
	}
	if s.lo > s.hi {
		s = span{0, 1}
	}
	if h.Null != nil && h.Min == nil && h.Max == nil {
		reach := max(math.Abs(s.hi-*h.Null), math.Abs(*h.Null-s.lo))
		s = span{*h.Null - reach, *h.Null + reach}
	}
	if s.lo == s.hi {
		s = s.fit(Axis{})
	}
	return s
}

// The colours of a heat map, from low to high.
var (
	rising    = []color.NRGBA{rgb(0xF7FBFF), rgb(0xC6DBEF), rgb(0x6BAED6), rgb(0x0072B2), rgb(0x00324F)}
	diverging = []color.NRGBA{rgb(0x00517F), rgb(0x56A3D0), rgb(0xF7F7F7), rgb(0xF0A860), rgb(0xA04000)}
)

// colour returns the colour of the fraction f of the range.
func (h Heatmap) colour(f float64) color.NRGBA {
	stops := rising
	if h.Null != nil {
		stops = diverging
	}
	at := clamp(f, 0, 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	t := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + t*(float64(b)-float64(a)))) }
	a, b := stops[i], stops[i+1]
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xFF}
}

// fraction returns the position of v in the range; a null is in the middle.
func (h Heatmap) fraction(s span, v float64) float64 {
	if h.Null == nil {
		return (v - s.lo) / (s.hi - s.lo)
	}
	if v < *h.Null {
		return 0.5 - 0.5*(*h.Null-v)/max(*h.Null-s.lo, 1e-300)
	}
	return 0.5 + 0.5*(v-*h.Null)/max(s.hi-*h.Null, 1e-300)
}

// contrastColour returns black or white, whichever is more legible on col.
func contrastColour(col color.NRGBA) color.Color {
	if 0.299*float64(col.R)+0.587*float64(col.G)+0.114*float64(col.B) < 140 {
		return color.White
	}
	return ink
}

func (h Heatmap) digits() int {
	if h.Digits == 0 {
		return 2
	}
	return min(max(h.Digits, 1), 9)
}

const (
	heatRow  = 34 // height of a row in CSS pixels
	heatBar  = 14 // width of the colour bar
	heatSide = 66 // room for the colour bar and its numbers
)

func (h Heatmap) body(width vg.Length) vg.Length {
	foot := float64(h.headings(h.cellWidth(width)).height() / px(1))
	n := float64(heatRow*len(h.Rows)) + foot + 32
	if h.Value != "" {
		n += 20
	}
	return h.height(max(n, 120))
}

// leftMargin returns the width of the names of the rows.
func (h Heatmap) leftMargin(width vg.Length) vg.Length {
	left := vg.Length(0)
	for _, r := range h.Rows {
		left = max(left, smallPen().width(r))
	}
	left = min(left, width*0.35) + px(8)
	if h.Y.Label != "" {
		left += labelPen().leading() + px(8)
	}
	return left
}

func (h Heatmap) cellWidth(width vg.Length) vg.Length {
	return (width - h.leftMargin(width) - px(heatSide)) / vg.Length(len(h.Columns))
}

func (h Heatmap) draw(c draw.Canvas) {
	p := smallPen()
	width := c.Max.X - c.Min.X
	left := h.leftMargin(width)
	heads := h.headings(h.cellWidth(width))
	foot := heads.height() + px(6)
	if h.X.Label != "" {
		foot += labelPen().leading() + px(2)
	}
	head := vg.Length(0)
	if h.Value != "" {
		head = p.leading() + px(4)
		p.write(c, c.Max.X, c.Max.Y-p.leading()+px(2), 1, "colour: "+h.Value)
	}
	area := draw.Crop(c, left, -px(heatSide), foot, -head)
	h.drawCells(area)
	h.drawNames(c, area, heads, foot)
	h.drawBar(area)
}

// cellPen returns the largest pen with which all numbers fit their cells. ok is false if none
// does: then no number is drawn, because a map with only some of its numbers would mislead.
func (h Heatmap) cellPen(width vg.Length) (pen, bool) {
	for _, size := range []float64{11.5, 9.5, 8} {
		p := newPen(size, false, ink)
		widest := vg.Length(0)
		for i, row := range h.Values {
			for j, v := range row {
				if h.missing(i, j) == "" {
					widest = max(widest, p.width(formatFixed(v, h.digits())))
				}
			}
		}
		if widest <= width-px(4) {
			return p, true
		}
	}
	return pen{}, false
}

func (h Heatmap) drawCells(c draw.Canvas) {
	s := h.colours()
	w := (c.Max.X - c.Min.X) / vg.Length(len(h.Columns))
	t := (c.Max.Y - c.Min.Y) / vg.Length(len(h.Rows))
	p, numbers := h.cellPen(w)
	for i, row := range h.Values {
		for j, v := range row {
			x, y := c.Min.X+vg.Length(j)*w, c.Max.Y-vg.Length(i+1)*t
			col := shade
			if h.missing(i, j) == "" {
				col = h.colour(h.fraction(s, v))
			}
			fillRect(c, col, x+px(1), y+px(1), x+w-px(1), y+t-px(1))
			if numbers {
				p.col = contrastColour(col)
				p.middle(c, x+w/2, y+t/2, 0.5, h.cell(i, j))
			}
		}
	}
}

func (h Heatmap) drawNames(c, area draw.Canvas, heads headings, foot vg.Length) {
	p := smallPen()
	w := (area.Max.X - area.Min.X) / vg.Length(len(h.Columns))
	t := (area.Max.Y - area.Min.Y) / vg.Length(len(h.Rows))
	for i, name := range h.Rows {
		p.middle(c, area.Min.X-px(6), area.Max.Y-(vg.Length(i)+0.5)*t, 1, name)
	}
	for j := range h.Columns {
		heads.draw(c, j, area.Min.X+(vg.Length(j)+0.5)*w, area.Min.Y-px(3))
	}
	if h.X.Label != "" {
		labelPen().write(c, area.Center().X, area.Min.Y-foot+px(3), 0.5, h.X.Label)
	}
	writeVertical(c, c.Min.X, area.Center().Y, h.Y.Label)
}

// drawBar draws the colour scale at the right.
func (h Heatmap) drawBar(c draw.Canvas) {
	s := h.colours()
	x := c.Max.X + px(12)
	const steps = 128
	high := (c.Max.Y - c.Min.Y) / steps
	for k := range steps {
		y := c.Min.Y + vg.Length(k)*high
		v := s.lo + (float64(k)+0.5)/steps*(s.hi-s.lo)
		fillRect(c, h.colour(h.fraction(s, v)), x, y, x+px(heatBar), min(y+high+px(0.5), c.Max.Y))
	}
	for _, t := range linearTicks(s.lo, s.hi, int(clamp((c.Max.Y-c.Min.Y)/px(50), 2, 6))) {
		y := c.Y((t.Value - s.lo) / (s.hi - s.lo))
		c.StrokeLine2(solid(inkSoft, 1), x+px(heatBar), y, x+px(heatBar+4), y)
		smallPen().middle(c, x+px(heatBar+7), y, 0, t.Label)
	}
}

func (h Heatmap) scene() scene { return scene{custom: h.draw, plain: h.table()} }

func (h Heatmap) cell(i, j int) string {
	if h.missing(i, j) != "" {
		return "\u2013"
	}
	return formatFixed(h.Values[i][j], h.digits())
}

// table returns the numbers as lines, with the reasons for missing ones.
func (h Heatmap) table() []string {
	var names, why []string
	for _, r := range h.Rows {
		names = append(names, oneLine(r))
	}
	w := widest(names...)
	rows := [][]string{{padRight("", w)}}
	for _, name := range h.Columns {
		rows[0] = append(rows[0], oneLine(name))
	}
	for i, name := range names {
		row := []string{padRight(name, w)}
		for j := range h.Columns {
			row = append(row, h.cell(i, j))
			if m := h.missing(i, j); m != "" {
				why = append(why, fmt.Sprintf("\u2013 %s, %s: %s", name, oneLine(h.Columns[j]), oneLine(m)))
			}
		}
		rows = append(rows, row)
	}
	out := append(alignedRows(rows), why...)
	if h.Value != "" {
		out = append([]string{oneLine(h.Value)}, out...)
	}
	return out
}
