// Drawing of scenes as PNG and SVG.

package plot

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend returns an entry per series, then one per mark that has a label, then the rest.
func (s scene) legend() []entry {
	var out []entry
	for i, r := range s.series {
		sample, key := s.sample(i)
		out = append(out, entry{label: r.name, styleKey: key, sample: sample})
	}
	for _, m := range s.explained() {
		out = append(out, entry{label: m.means, styleKey: string(m.kind), sample: m.sample})
	}
	return append(out, s.entries...)
}

// sample returns the drawing of a series in the legend and a key: equal keys, equal looks.
func (s scene) sample(i int) (sample func(c draw.Canvas), key string) {
	l := s.series[i].seriesStyle
	stroke := func(c draw.Canvas, y vg.Length, style draw.LineStyle) { c.StrokeLine2(style, c.Min.X, y, c.Max.X, y) }
	glyph := func(c draw.Canvas, radius float64) {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.col, Radius: px(radius), Shape: l.shape}, c.Center())
	}
	switch {
	case s.has(paths, i):
		return func(c draw.Canvas) {
			if s.has(areas, i) {
				fillRect(c, alpha(l.col, 0.18), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			}
			stroke(c, c.Center().Y, l.stroke(2))
			if markerIndex(s.styles(), i) >= 0 {
				glyph(c, 4)
			}
		}, fmt.Sprint(l.col, l.dashes)
	case s.has(steps, i):
		return func(c draw.Canvas) {
			fillRect(c, alpha(l.col, 0.3), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			stroke(c, c.Max.Y, l.outline(1.8))
		}, fmt.Sprint(l.col, l.outline(1).Dashes)
	case l.shape.GlyphDrawer == nil: // a class of a decision
		return func(c draw.Canvas) {
			fillRect(c, tint(l.col, 0.9), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.col, Radius: px(2.7), Shape: ringed{}}, c.Center())
		}, fmt.Sprint(l.col)
	case s.groups != nil:
		return func(c draw.Canvas) {
			fillRect(c, alpha(l.col, 0.22), c.Center().X-px(8), c.Min.Y, c.Center().X+px(8), c.Max.Y)
			glyph(c, 3.2)
		}, l.marker()
	case s.lines != nil:
		return func(c draw.Canvas) {
			stroke(c, c.Center().Y, solid(l.col, 1.8))
			glyph(c, 4)
		}, s.series[i].name
	}
	return func(c draw.Canvas) { glyph(c, 4) }, "points " + l.marker()
}

// sample draws a mark that has a colour of its own in the legend.
func (m mark) sample(c draw.Canvas) {
	style := draw.LineStyle{Color: m.col, Width: px(m.width), Dashes: m.dashes}
	switch {
	case m.kind == bars || m.kind == areas:
		fillRect(c, m.col, c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
	case m.kind == diamonds:
		paperMark(c, c.Center(), px(5))
	case m.y == "":
		c.StrokeLine2(style, c.Center().X, c.Min.Y, c.Center().X, c.Max.Y)
	default:
		c.StrokeLine2(style, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
	}
}

// draw draws the scales and the marks.
func (s scene) draw(c draw.Canvas) {
	switch {
	case s.custom != nil:
		s.custom(c)
	case s.groups != nil:
		s.drawGroups(c)
	case s.named():
		s.drawLines(c)
	default:
		s.drawPlane(c)
	}
}

// drawPlane draws a scene whose scales both have values.
func (s scene) drawPlane(c draw.Canvas) {
	for _, m := range s.marks {
		if m.kind == words && len(m.rows) > 0 {
			c = draw.Crop(c, 0, 0, 0, -smallPen().leading())
		}
	}
	p := newPlot(c, s.x.Axis, s.y.Axis, s.x.span, s.y.span)
	p.Add(grid{s.x.grid, s.y.grid}, layer(s.paint))
	p.Draw(c)
}

// groupLabels returns the names of the groups, wrapped to their width, and the largest pen with
// which no word is broken.
func (s scene) groupLabels(width vg.Length) ([][]string, pen) {
	room := width/vg.Length(len(s.groups)) - px(6)
	p := smallPen()
	for _, size := range []float64{10.5, 9.5, 8.5} {
		if widestWord(p, strings.Join(s.groups, " ")) > room {
			p = newPen(size, false, ink)
		}
	}
	out := make([][]string, len(s.groups))
	for g, name := range s.groups {
		out[g] = wrap(p, name, room)
	}
	return out, p
}

func widestWord(p pen, text string) vg.Length {
	var w vg.Length
	for _, word := range strings.Fields(text) {
		w = max(w, p.width(word))
	}
	return w
}

// drawGroups draws a scene with groups along x.
func (s scene) drawGroups(c draw.Canvas) {
	p := newPlot(c, Axis{}, s.y.Axis, s.x.span, s.y.span)
	p.HideX()
	p.X.Width = 0
	data := p.DataCanvas(c)
	labels, names := s.groupLabels(data.Max.X - data.Min.X)
	deep := 0
	for _, l := range labels {
		deep = max(deep, len(l))
	}
	foot := vg.Length(deep)*names.leading() + px(6)
	if s.x.Label != "" {
		foot += labelPen().leading() + px(2)
	}
	p.Add(layer(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for g := 1; g < len(labels); g += 2 {
			fillRect(c, shade, x(float64(g)), c.Min.Y, x(float64(g+1)), c.Max.Y)
		}
	}), grid{y: true}, layer(s.paint), layer(func(c draw.Canvas, x, _ func(float64) vg.Length) {
		c.StrokeLine2(solid(inkSoft, 1), c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
		for g, lines := range labels {
			for i, l := range lines {
				names.write(c, x(float64(g)+0.5), c.Min.Y-px(4)-vg.Length(i+1)*names.leading()+px(3), 0.5, l)
			}
		}
		labelPen().write(c, c.Center().X, c.Min.Y-foot+px(3), 0.5, s.x.Label)
	}))
	p.Draw(draw.Crop(c, 0, 0, foot, 0))
}

// The height of a line with a name along y and the gap between its cells, in CSS pixels.
const lineHeight, columnGap = 23, 16

// cellWidths returns the widths of the columns of cells, 0 for one without text.
func (s scene) cellWidths() []vg.Length {
	out := make([]vg.Length, len(s.heads))
	for _, l := range s.lines {
		for j, cell := range l.cells {
			if cell != "" {
				out[j] = max(out[j], smallPen().width(cell), headPen().width(s.heads[j]))
			}
		}
	}
	return out
}

// cellsWidth returns the width of all columns.
func cellsWidth(widths []vg.Length) vg.Length {
	var out vg.Length
	for _, w := range widths {
		if w > 0 {
			out += w + px(columnGap)
		}
	}
	return max(0, out-px(columnGap))
}

// writeCells writes cells from x on, each to the end of its column.
func writeCells(c draw.Canvas, p pen, cells []string, widths []vg.Length, x, y vg.Length) {
	for j, w := range widths {
		if w > 0 {
			p.write(c, x+w, y, 1, cells[j])
			x += w + px(columnGap)
		}
	}
}

// indentWidth returns the indent of a name under a heading.
func (l line) indentWidth() vg.Length {
	if l.indent {
		return px(12)
	}
	return 0
}

// nameWidth returns the width of the names. A heading may run into the drawing, whose line is empty
// there.
func (s scene) nameWidth() vg.Length {
	var w vg.Length
	for _, l := range s.lines {
		if !l.heading {
			w = max(w, smallPen().width(l.name)+l.indentWidth()+px(2))
		}
	}
	return w
}

// drawLines draws a scene with names along y.
func (s scene) drawLines(c draw.Canvas) {
	widths := s.cellWidths()
	left := min(s.nameWidth(), (c.Max.X-c.Min.X)*0.4)
	inner := draw.Crop(c, left+px(14), -cellsWidth(widths)-px(14), 0, -px(lineHeight))
	p := newPlot(inner, s.x.Axis, Axis{}, s.x.span, span{0, float64(len(s.lines))})
	p.HideY()
	p.Y.Width = 0
	p.Add(grid{x: true}, layer(s.paint), layer(func(pc draw.Canvas, x, y func(float64) vg.Length) {
		end := pc.Max.X + px(14)
		writeCells(c, headPen(), s.heads, widths, end, pc.Max.Y+px(7))
		for i, l := range s.lines {
			middle := y(float64(len(s.lines)-i) - 0.5)
			if l.heading {
				headPen().middle(c, c.Min.X, middle, 0, l.name)
				c.StrokeLine2(solid(gridLine, 1), c.Min.X, middle+px(lineHeight)/2, c.Max.X, middle+px(lineHeight)/2)
				continue
			}
			l.writeName(c, left, middle)
			small := smallPen()
			if l.faint {
				small.col = inkSoft
			}
			writeCells(c, small, l.cells, widths, end, middle-small.font.Size*0.34)
		}
	}))
	p.Draw(inner)
}

// writeName writes the name of a line, cut to the room.
func (l line) writeName(c draw.Canvas, room, y vg.Length) {
	p, name := smallPen(), l.name
	if l.control {
		p.col = inkSoft
	}
	if room -= l.indentWidth(); p.width(name) > room {
		name = fit(p, name, room-p.width("\u2026")) + "\u2026"
	}
	p.middle(c, c.Min.X+l.indentWidth(), y, 0, name)
}
