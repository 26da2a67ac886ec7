// Names under the columns of a heat map.

package plot

import (
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// headings are the names under the columns of a heat map, horizontal if every word fits, else
// vertical.
type headings struct {
	upright bool
	lines   [][]string
}

// headings lays out the names of the columns for columns of the given width.
func (h Heatmap) headings(width vg.Length) headings {
	p := smallPen()
	out := headings{lines: make([][]string, len(h.Columns))}
	for j, name := range h.Columns {
		out.lines[j] = wrap(p, name, width-px(4))
		for _, word := range strings.Fields(name) {
			out.upright = out.upright || p.width(word) > width-px(4)
		}
	}
	if !out.upright {
		return out
	}
	for j, name := range h.Columns {
		out.lines[j] = []string{strings.Join(strings.Fields(name), " ")}
	}
	return out
}

// height returns the height of the names.
func (hs headings) height() vg.Length {
	p := smallPen()
	var deep vg.Length
	for _, lines := range hs.lines {
		if !hs.upright {
			deep = max(deep, vg.Length(len(lines))*p.leading())
			continue
		}
		for _, l := range lines {
			deep = max(deep, p.width(l)+px(4))
		}
	}
	return deep
}

// draw draws the name of column j below y, centred on x.
func (hs headings) draw(c draw.Canvas, j int, x, y vg.Length) {
	p := smallPen()
	if hs.upright {
		sty := p.style(float64(draw.XRight), float64(draw.YCenter))
		sty.Rotation = math.Pi / 2
		for _, l := range hs.lines[j] {
			c.FillText(sty, vg.Point{X: x + p.font.Size*0.2, Y: y - px(2)}, l)
		}
		return
	}
	for _, l := range hs.lines[j] {
		y -= p.leading()
		p.write(c, x, y+px(3), 0.5, l)
	}
}
