// Drawing of the marks of a scene.

package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// painter draws marks on the part of a canvas that holds the data.
type painter struct {
	scene
	c      draw.Canvas
	fx, fy func(float64) vg.Length
	lane   vg.Length
}

// paint draws all marks.
func (s scene) paint(c draw.Canvas, x, y func(float64) vg.Length) {
	p := painter{scene: s, c: c, fx: x, fy: y}
	if s.groups != nil {
		p.lane = min((x(1)-x(0))*0.9/vg.Length(len(s.series)), px(46))
	}
	for _, m := range s.marks {
		p.draw(m)
	}
}

func (p painter) draw(m mark) {
	switch m.kind {
	case areas:
		m.bySeries(func(_ int, rows []datum) { p.area(m, rows) })
	case paths:
		m.bySeries(func(_ int, rows []datum) { p.path(m, rows) })
	case steps:
		p.steps(m)
	case pieces:
		p.pieces(m)
	case picture:
		side := func(l vg.Length) int { return int(clamp(float64(2*l/px(1)), 2, 1600)) }
		p.c.DrawImage(p.c.Rectangle, m.paint(side(p.c.Size().X), side(p.c.Size().Y)))
	default:
		for _, d := range m.data() {
			p.single(m, d)
		}
	}
}

// single draws the mark of a row.
func (p painter) single(m mark, d datum) {
	pt := vg.Point{X: p.x(d, m.x), Y: p.y(d, m.y)}
	switch m.kind {
	case rules:
		p.rule(m, d)
	case bars:
		p.bar(m, d)
	case ticks:
		if half := p.lane * 0.4; p.c.ContainsY(pt.Y) {
			p.c.StrokeLine2(p.stroke(m, d), pt.X-half, pt.Y, pt.X+half, pt.Y)
		}
	case points:
		p.point(m, d, pt)
	case diamonds:
		if p.c.Contains(pt) {
			paperMark(p.c, pt, m.radius.length(p.lane))
		}
	case words:
		s, _ := d.row[m.text].(string)
		if half := smallPen().width(s) / 2; p.c.ContainsX(pt.X) {
			smallPen().write(p.c, clamp(pt.X, p.c.Min.X+half, p.c.Max.X-half), p.c.Max.Y+px(4), 0.5, s)
		}
	}
}

// x returns the position of a column along x: of its value, or the middle of its lane.
func (p painter) x(d datum, column string) vg.Length {
	v := d.number(column)
	if p.groups == nil || column == "" {
		return p.fx(v)
	}
	left := p.fx(v+0.5) - p.lane*vg.Length(len(p.series))/2
	return left + p.lane*(vg.Length(d.series)+0.5)
}

// y returns the position of a column along y: of its value, or of its line.
func (p painter) y(d datum, column string) vg.Length {
	v := d.number(column)
	if p.named() && column != "" {
		return p.fy(float64(len(p.lines)) - v - 0.5)
	}
	return p.fy(v)
}

// ends returns the two corners of a rule or a bar.
func (p painter) ends(m mark, d datum) (a, b vg.Point) {
	a = vg.Point{X: p.x(d, m.x), Y: p.y(d, m.y)}
	b = a
	switch {
	case m.x == "":
		a.X, b.X = p.c.Min.X, p.c.Max.X
	case p.groups != nil && m.wide():
		a.X, b.X = p.fx(d.number(m.x)), p.fx(d.number(m.x)+1)
	case p.groups != nil && m.kind == bars:
		a.X, b.X = a.X-p.lane*0.4, a.X+p.lane*0.4
	case m.x2 != "":
		b.X = p.x(d, m.x2)
	}
	switch {
	case m.y == "":
		a.Y, b.Y = p.c.Min.Y, p.c.Max.Y
	case m.y2 != "":
		b.Y = p.y(d, m.y2)
	}
	return a, b
}

// clip moves a point to the edge of the drawing if it is outside.
func (p painter) clip(pt vg.Point) vg.Point {
	return vg.Point{X: clamp(pt.X, p.c.Min.X, p.c.Max.X), Y: clamp(pt.Y, p.c.Min.Y, p.c.Max.Y)}
}

// rule draws a straight line. With tips, an end outside the drawing becomes an arrow.
func (p painter) rule(m mark, d datum) {
	from, to := p.ends(m, d)
	if max(from.X, to.X) < p.c.Min.X || min(from.X, to.X) > p.c.Max.X || max(from.Y, to.Y) < p.c.Min.Y || min(from.Y, to.Y) > p.c.Max.Y {
		return
	}
	a, b := p.clip(from), p.clip(to)
	p.c.StrokeLine2(p.stroke(m, d), a.X, a.Y, b.X, b.Y)
	if m.tip == (size{}) {
		return
	}
	along, across := vg.Point{Y: px(5)}, vg.Point{X: px(1)}
	if m.x2 != "" {
		along, across = vg.Point{X: px(5)}, vg.Point{Y: px(1)}
	}
	p.tip(m, d, a, from, along, across)
	p.tip(m, d, b, to, along.Scale(-1), across)
}

// tip draws the end of a rule: a line across it, or an arrow if the rule goes on to a point outside
// the drawing.
func (p painter) tip(m mark, d datum, end, goal, inward, across vg.Point) {
	if end != goal {
		back := end.Add(inward)
		p.c.StrokeLines(p.stroke(m, d), []vg.Point{back.Add(across.Scale(4)), end, back.Sub(across.Scale(4))})
		return
	}
	half := across.Scale(m.tip.length(p.lane) / px(1))
	p.c.StrokeLines(p.stroke(m, d), []vg.Point{end.Sub(half), end.Add(half)})
}

// bar fills a rectangle. One of a series has an edge.
func (p painter) bar(m mark, d datum) {
	from, to := p.ends(m, d)
	a, b := p.clip(from), p.clip(to)
	if m.hasColour() {
		fillRect(p.c, m.col, a.X, a.Y, b.X, b.Y)
		return
	}
	fillRect(p.c, alpha(p.series[d.series].col, 0.22), a.X, a.Y, b.X, b.Y)
	p.c.SetLineStyle(solid(alpha(p.series[d.series].col, 0.6), 0.8))
	p.c.Stroke(vg.Rectangle{Min: a, Max: b}.Path())
}

// stroke returns the line style of a mark.
func (p painter) stroke(m mark, d datum) draw.LineStyle {
	out := draw.LineStyle{Color: p.colour(m, d), Width: px(m.width), Dashes: m.dashes}
	if m.kind == paths && !m.hasColour() {
		out.Dashes = p.series[d.series].dashes
	}
	return out
}

// point draws the symbol of a row.
func (p painter) point(m mark, d datum, pt vg.Point) {
	pt.X += vg.Length(d.shift) * p.lane
	l := p.series[d.series]
	style := draw.GlyphStyle{Color: p.colour(m, d), Radius: m.radius.length(p.lane), Shape: l.shape}
	if m.shape != nil {
		style.Shape = m.shape
		style.Radius *= vg.Length(clamp(float64(p.c.Size().X/px(420)), 0.7, 1))
	}
	p.c.DrawGlyph(style, pt)
}

// colour returns the colour of a mark: its own, or that of the series.
func (p painter) colour(m mark, d datum) color.NRGBA {
	if m.hasColour() {
		return m.col
	}
	return alpha(p.series[d.series].col, m.strength())
}

// area fills the band between y and y2.
func (p painter) area(m mark, rows []datum) {
	var pts []vg.Point
	for _, d := range rows {
		pts = append(pts, vg.Point{X: p.x(d, m.x), Y: p.y(d, m.y2)})
	}
	for i := len(rows) - 1; i >= 0; i-- {
		pts = append(pts, vg.Point{X: p.x(rows[i], m.x), Y: p.y(rows[i], m.y)})
	}
	if pts = p.c.ClipPolygonXY(pts); len(pts) < 3 {
		return
	}
	p.c.SetColor(p.colour(m, rows[0]))
	p.c.Fill(closed(pts))
}

// closed returns the polygon with these corners.
func closed(pts []vg.Point) vg.Path {
	var out vg.Path
	out.Move(pts[0])
	for _, pt := range pts[1:] {
		out.Line(pt)
	}
	out.Close()
	return out
}

// positions returns the points of rows.
func (p painter) positions(m mark, rows []datum) []vg.Point {
	pts := make([]vg.Point, len(rows))
	for i, d := range rows {
		pts[i] = vg.Point{X: p.x(d, m.x), Y: p.y(d, m.y)}
	}
	return pts
}

// path draws the line of a series, with symbols if others could be taken for it; a single point is
// a symbol.
func (p painter) path(m mark, rows []datum) {
	pts := p.positions(m, rows)
	style := p.stroke(m, rows[0])
	if m.hasColour() {
		p.c.StrokeLines(style, p.c.ClipLinesXY(pts)...)
		return
	}
	l := p.series[rows[0].series].seriesStyle
	if len(pts) == 1 {
		p.c.DrawGlyph(draw.GlyphStyle{Color: l.col, Radius: px(3.5), Shape: l.shape}, pts[0])
		return
	}
	p.c.StrokeLines(style, p.c.ClipLinesXY(pts)...)
	if n := markerIndex(p.styles(), rows[0].series); n >= 0 {
		p.symbolsAlong(pts, l, px(symbolEvery*math.Mod(0.5+0.37*float64(n), 1)))
	}
}

// markerIndex returns the number of line i among those with symbols, or -1 if it has none: it
// shifts the symbols, so that those of lines that coincide do not cover each other. Controls have
// symbols, because the null is a dashed line too, and so do methods if there are several.
func markerIndex(ls []seriesStyle, i int) int {
	plain := 0
	for _, l := range ls {
		if l.dashes == nil {
			plain++
		}
	}
	if ls[i].dashes == nil && plain < 2 {
		return -1
	}
	return i
}

// symbolEvery is the distance of two symbols on a line, in CSS pixels.
const symbolEvery = 70

// symbolsAlong draws symbols along a line, the first one at the distance next from its start.
func (p painter) symbolsAlong(pts []vg.Point, l seriesStyle, next vg.Length) {
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		way := vg.Length(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)))
		for ; next <= way; next += px(symbolEvery) {
			t := next / way
			if pt := (vg.Point{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)}); p.c.Contains(pt) {
				p.c.DrawGlyph(draw.GlyphStyle{Color: l.col, Radius: px(4), Shape: l.shape}, pt)
			}
		}
		next -= way
	}
}

// steps fills the staircases of all series, then draws their outlines.
func (p painter) steps(m mark) {
	m.bySeries(func(i int, rows []datum) {
		p.c.SetColor(alpha(p.series[i].col, 0.28))
		p.c.Fill(closed(p.positions(m, rows)))
	})
	m.bySeries(func(i int, rows []datum) { p.c.StrokeLines(p.series[i].outline(m.width), p.positions(m, rows)) })
}

// pieces draws straight lines as one path, without dark spots where they meet.
func (p painter) pieces(m mark) {
	var path vg.Path
	for _, d := range m.rows {
		a, b := p.ends(m, d)
		path.Move(a)
		path.Line(b)
	}
	if len(path) > 0 {
		p.c.SetLineStyle(p.stroke(m, datum{}))
		p.c.Stroke(path)
	}
}
