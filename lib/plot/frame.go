package plot

import (
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// entry is one item of a legend: a sample drawing and its label.
type entry struct {
	label    string
	styleKey string // entries with one label must have one look
	sample   func(c draw.Canvas)
}

// The dimensions of the frame.
var (
	marginX  = px(16)
	marginY  = px(12)
	thumbW   = px(24)
	thumbGap = px(6)
	entryGap = px(18)
)

// frame lays out a figure from top to bottom: title, legend, drawing, caption, source. The legend
// is above the drawing, so it never covers data.
type frame struct {
	f       drawing
	scene   scene
	w, h    vg.Length
	title   []string
	legend  []legendRow
	caption []string
	source  []string
}

// standardWidth is the width of a figure in CSS pixels if Meta gives none.
const standardWidth = 900

// widther is a figure whose kind has its own standard width.
type widther interface{ standardWidth() float64 }

func newFrame(f drawing) frame {
	m := f.meta()
	standard := float64(standardWidth)
	if s, ok := f.(widther); ok {
		standard = s.standardWidth()
	}
	fr := frame{f: f, scene: f.scene(), w: m.width(standard)}
	inner := fr.w - 2*marginX
	fr.title = wrap(titlePen(), m.Title, inner)
	fr.legend = legendRows(fr.scene.legend(), inner)
	fr.caption = wrap(notePen(), m.Caption, inner)
	fr.source = wrap(sourcePen(), m.Source, inner)
	fr.h = 2*marginY + fr.top() + f.body(inner) + fr.bottom()
	return fr
}

// legendRowHeight returns the height of one row of the legend.
func legendRowHeight() vg.Length { return smallPen().leading() + px(3) }

func (fr frame) top() vg.Length {
	h := vg.Length(len(fr.title)) * titlePen().leading()
	if len(fr.title) > 0 {
		h += px(4)
	}
	if len(fr.legend) > 0 {
		for _, row := range fr.legend {
			h += row.height()
		}
		h += px(6)
	}
	return h
}

func (fr frame) bottom() vg.Length {
	h := vg.Length(len(fr.caption))*notePen().leading() + vg.Length(len(fr.source))*sourcePen().leading()
	if h > 0 {
		h += px(8)
	}
	return h
}

func (fr frame) draw(c draw.Canvas) {
	fillRect(c, paperFill, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	y := c.Max.Y - marginY
	x := c.Min.X + marginX
	for _, l := range fr.title {
		titlePen().write(c, x, y-titlePen().font.Size*0.92, 0, l)
		y -= titlePen().leading()
	}
	if len(fr.title) > 0 {
		y -= px(4)
	}
	for _, row := range fr.legend {
		drawLegendRow(c, row, x, y-legendRowHeight()/2)
		y -= row.height()
	}
	fr.scene.draw(draw.Crop(c, marginX, -marginX, marginY+fr.bottom(), -marginY-fr.top()))
	y = c.Min.Y + marginY + fr.bottom() - px(8)
	for _, l := range fr.caption {
		notePen().write(c, x, y-notePen().font.Size, 0, l)
		y -= notePen().leading()
	}
	for _, l := range fr.source {
		sourcePen().write(c, x, y-sourcePen().font.Size, 0, l)
		y -= sourcePen().leading()
	}
}

// legendRow is a row of legend entries. A label that is wider than the legend is broken into
// lines.
type legendRow struct {
	entries []entry
	labels  [][]string
}

func (r legendRow) height() vg.Length {
	lines := 1
	for _, l := range r.labels {
		lines = max(lines, len(l))
	}
	return legendRowHeight() + vg.Length(lines-1)*smallPen().leading()
}

func drawLegendRow(c draw.Canvas, row legendRow, x, y vg.Length) {
	for k, e := range row.entries {
		t := c
		t.Min, t.Max = vg.Point{X: x, Y: y - px(6)}, vg.Point{X: x + thumbW, Y: y + px(6)}
		e.sample(t)
		for i, line := range row.labels[k] {
			smallPen().middle(c, x+thumbW+thumbGap, y-vg.Length(i)*smallPen().leading(), 0, line)
		}
		x += entryWidth(e)
	}
}

func entryWidth(e entry) vg.Length {
	return thumbW + thumbGap + smallPen().width(e.label) + entryGap
}

// legendRows breaks the legend into rows of the given width.
func legendRows(es []entry, width vg.Length) []legendRow {
	var rows []legendRow
	var used vg.Length
	for _, e := range es {
		w := entryWidth(e)
		if len(rows) == 0 || used+w-entryGap > width {
			rows, used = append(rows, legendRow{}), 0
		}
		labels := []string{e.label}
		if w-entryGap > width {
			labels = wrap(smallPen(), e.label, width-thumbW-thumbGap)
		}
		last := &rows[len(rows)-1]
		last.entries, last.labels = append(last.entries, e), append(last.labels, labels)
		used += w
	}
	return rows
}

// wrap breaks s into lines of the given width, at spaces, and inside a word only if the word alone
// is too wide.
func wrap(p pen, s string, width vg.Length) []string {
	var lines []string
	cur := ""
	flush := func() {
		if cur != "" {
			lines = append(lines, cur)
		}
		cur = ""
	}
	for _, word := range strings.Fields(s) {
		if cur != "" && p.width(cur+" "+word) > width {
			flush()
		}
		for p.width(word) > width && len([]rune(word)) > 1 {
			flush()
			head := fit(p, word, width)
			lines = append(lines, head)
			word = word[len(head):]
		}
		if cur != "" {
			cur += " "
		}
		cur += word
	}
	flush()
	return lines
}

// fit returns the longest start of word, at least one letter, that is not wider than width.
func fit(p pen, word string, width vg.Length) string {
	end := 0
	for i, r := range word {
		next := i + len(string(r))
		if end > 0 && p.width(word[:next]) > width {
			break
		}
		end = next
	}
	return word[:end]
}
