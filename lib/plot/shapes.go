// Shapes of markers.

package plot

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// polygon is a filled shape with these corners, x to the right and y up, in units of the radius.
type polygon []struct{ x, y float64 }

// DrawGlyph implements draw.GlyphDrawer.
func (corners polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	c.Fill(corners.path(pt, sty.Radius))
}

// path returns the outline around pt.
func (corners polygon) path(pt vg.Point, radius vg.Length) vg.Path {
	pts := make([]vg.Point, len(corners))
	for i, k := range corners {
		pts[i] = vg.Point{X: pt.X + vg.Length(k.x)*radius, Y: pt.Y + vg.Length(k.y)*radius}
	}
	return closed(pts)
}

// symbol returns the shape with its path in Vega's notation, y down.
func (corners polygon) symbol() symbol {
	path := "M"
	for i, k := range corners {
		if i > 0 {
			path += "L"
		}
		path += fmt.Sprintf("%g,%g", k.x, -k.y)
	}
	return symbol{corners, path + "Z"}
}

// The filled shapes.
var (
	diamond       = polygon{{0, 1.25}, {1.25, 0}, {0, -1.25}, {-1.25, 0}}
	bar           = polygon{{-0.45, 1.3}, {0.45, 1.3}, {0.45, -1.3}, {-0.45, -1.3}}
	hourglass     = polygon{{-1.1, 1.1}, {1.1, 1.1}, {-1.1, -1.1}, {1.1, -1.1}}
	wedge         = polygon{{0, -1.1}, {-0.99, 0.77}, {0.99, 0.77}}
	leftTriangle  = polygon{{-1.1, 0}, {0.8, 1.05}, {0.8, -1.05}}
	rightTriangle = polygon{{1.1, 0}, {-0.8, -1.05}, {-0.8, 1.05}}
	flatBar       = polygon{{-1.3, -0.45}, {1.3, -0.45}, {1.3, 0.45}, {-1.3, 0.45}}
	bowTie        = polygon{{-1.1, -1.1}, {1.1, 1.1}, {1.1, -1.1}, {-1.1, 1.1}}
	house         = polygon{{-0.8, -1}, {0.8, -1}, {0.8, 0.1}, {0, 1.2}, {-0.8, 0.1}}
	chevron       = polygon{{-1.1, -0.9}, {0, 0.1}, {1.1, -0.9}, {1.1, 0.1}, {0, 1.1}, {-1.1, 0.1}}
)

// cross is a diagonal cross, stronger than the drawing library's.
type cross struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (cross) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius * 0.85
	ls := draw.LineStyle{Color: sty.Color, Width: px(1.2)}
	c.StrokeLine2(ls, pt.X-r, pt.Y-r, pt.X+r, pt.Y+r)
	c.StrokeLine2(ls, pt.X-r, pt.Y+r, pt.X+r, pt.Y-r)
}

// plus is an upright cross.
type plus struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (plus) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius
	ls := draw.LineStyle{Color: sty.Color, Width: px(1.2)}
	c.StrokeLine2(ls, pt.X-r, pt.Y, pt.X+r, pt.Y)
	c.StrokeLine2(ls, pt.X, pt.Y-r, pt.X, pt.Y+r)
}

// star is a cross and a plus in one.
type star struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (star) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	cross{}.DrawGlyph(c, sty, pt)
	plus{}.DrawGlyph(c, sty, pt)
}

// upTriangle points up.
var upTriangle = polygon{{0, 1}, {0.88, -0.62}, {-0.88, -0.62}}

// edged is a triangle with a black edge.
type edged struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (edged) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	p := upTriangle.path(pt, sty.Radius)
	c.SetColor(sty.Color)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: paperInk, Width: sty.Radius * 1.3 / 5.4})
	c.Stroke(p)
}

// ringed is a circle in a white ring.
type ringed struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (ringed) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: paperFill, Radius: sty.Radius * 3.5 / 2.7, Shape: draw.CircleGlyph{}}, pt)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: sty.Color, Radius: sty.Radius, Shape: draw.CircleGlyph{}}, pt)
}

// paperMark draws the hollow diamond of a value printed in a paper. No other
// marker is hollow.
func paperMark(c draw.Canvas, pt vg.Point, r vg.Length) {
	p := diamond.path(pt, r/1.25)
	c.SetColor(paperFill)
	c.Fill(p)
	c.SetLineStyle(draw.LineStyle{Color: paperInk, Width: px(1.4)})
	c.Stroke(p)
}

// fillRect fills the rectangle between two corners given in any order.
func fillRect(c draw.Canvas, col color.Color, x0, y0, x1, y1 vg.Length) {
	c.SetColor(col)
	c.Fill(vg.Rectangle{Min: vg.Point{X: min(x0, x1), Y: min(y0, y1)}, Max: vg.Point{X: max(x0, x1), Y: max(y0, y1)}}.Path())
}

// solid returns a line style without dashes; the width is in CSS pixels.
func solid(col color.Color, width float64) draw.LineStyle {
	return draw.LineStyle{Color: col, Width: px(width)}
}

// dashed returns a dashed line style; the width is in CSS pixels.
func dashed(col color.Color, width float64) draw.LineStyle {
	return draw.LineStyle{Color: col, Width: px(width), Dashes: []vg.Length{px(5), px(3)}}
}
