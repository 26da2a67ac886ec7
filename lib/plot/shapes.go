// Shapes of markers.

package plot

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// diamond is a filled diamond.
type diamond struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (diamond) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	c.Fill(diamondPath(pt, sty.Radius*1.25))
}

// bar is a filled upright bar.
type bar struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (bar) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius
	fillRect(*c, sty.Color, pt.X-0.45*r, pt.Y-1.3*r, pt.X+0.45*r, pt.Y+1.3*r)
}

// polygon is a filled shape with these corners, x to the right and y up, in units of the radius.
type polygon []struct{ x, y float64 }

// DrawGlyph implements draw.GlyphDrawer.
func (corners polygon) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	var p vg.Path
	for i, k := range corners {
		at := vg.Point{X: pt.X + vg.Length(k.x)*sty.Radius, Y: pt.Y + vg.Length(k.y)*sty.Radius}
		if i == 0 {
			p.Move(at)
		} else {
			p.Line(at)
		}
	}
	p.Close()
	c.Fill(p)
}

// vegaPath returns the shape in Vega's notation, y down.
func (corners polygon) vegaPath() string {
	path := ""
	for i, k := range corners {
		path += map[bool]string{true: "M", false: "L"}[i == 0] + fmt.Sprintf("%g,%g", k.x, -k.y)
	}
	return path + "Z"
}

// The shapes of the seventh to the twelfth method.
var (
	leftTriangle  = polygon{{-1.1, 0}, {0.8, 1.05}, {0.8, -1.05}}
	rightTriangle = polygon{{1.1, 0}, {-0.8, -1.05}, {-0.8, 1.05}}
	flatBar       = polygon{{-1.3, -0.45}, {1.3, -0.45}, {1.3, 0.45}, {-1.3, 0.45}}
	bowTie        = polygon{{-1.1, -1.1}, {1.1, 1.1}, {1.1, -1.1}, {-1.1, 1.1}}
	house         = polygon{{-0.8, -1}, {0.8, -1}, {0.8, 0.1}, {0, 1.2}, {-0.8, 0.1}}
	chevron       = polygon{{-1.1, -0.9}, {0, 0.1}, {1.1, -0.9}, {1.1, 0.1}, {0, 1.1}, {-1.1, 0.1}}
)

// hourglass is two filled triangles that meet at their tips.
type hourglass struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (hourglass) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius * 1.1
	var p vg.Path
	p.Move(vg.Point{X: pt.X - r, Y: pt.Y + r})
	p.Line(vg.Point{X: pt.X + r, Y: pt.Y + r})
	p.Line(vg.Point{X: pt.X - r, Y: pt.Y - r})
	p.Line(vg.Point{X: pt.X + r, Y: pt.Y - r})
	p.Close()
	c.Fill(p)
}

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

// wedge is a filled triangle that points down.
type wedge struct{}

// DrawGlyph implements draw.GlyphDrawer.
func (wedge) DrawGlyph(c *draw.Canvas, sty draw.GlyphStyle, pt vg.Point) {
	r := sty.Radius * 1.1
	var p vg.Path
	p.Move(vg.Point{X: pt.X, Y: pt.Y - r})
	p.Line(vg.Point{X: pt.X - r*0.9, Y: pt.Y + r*0.7})
	p.Line(vg.Point{X: pt.X + r*0.9, Y: pt.Y + r*0.7})
	p.Close()
	c.Fill(p)
}

func diamondPath(pt vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: pt.X, Y: pt.Y + r})
	p.Line(vg.Point{X: pt.X + r, Y: pt.Y})
	p.Line(vg.Point{X: pt.X, Y: pt.Y - r})
	p.Line(vg.Point{X: pt.X - r, Y: pt.Y})
	p.Close()
	return p
}

// paperMark draws the hollow diamond of a value printed in a paper. No other
// marker is hollow.
func paperMark(c draw.Canvas, pt vg.Point, r vg.Length) {
	p := diamondPath(pt, r)
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
