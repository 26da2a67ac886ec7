// Drawing of decision figures: colours, boundary, points.

package plot

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (d Decision) draw(c draw.Canvas) {
	g := d.Grid.standard()
	p := newPlot(c, Axis{Label: d.X.Label}, Axis{Label: d.Y.Label}, span{g.XMin, g.XMax}, span{g.YMin, g.YMax})
	p.Add(layer(func(c draw.Canvas, x, y func(float64) vg.Length) {
		size := c.Size()
		c.DrawImage(c.Rectangle, d.field(fieldSide(size.X), fieldSide(size.Y)))
		d.drawBoundary(c, x, y)
		for _, kind := range []PointKind{Retained, HeldOut, Forgotten} {
			d.drawPoints(c, kind, x, y)
		}
	}))
	p.Draw(c)
}

// fieldSide returns the number of pixels of the picture along a side of the drawing.
func fieldSide(l vg.Length) int { return int(clamp(float64(2*l/px(1)), 2, 1600)) }

// fieldSteps is the number of shades per class: few enough to be seen as steps of equal
// probability and to keep the file small.
const fieldSteps = 8

// field returns the decision as a picture of w x h pixels.
func (d Decision) field(w, h int) image.Image {
	g := d.Grid.standard()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	probs := make([]float64, len(d.Classes))
	for j := range h {
		y := g.YMax - (float64(j)+0.5)/float64(h)*(g.YMax-g.YMin)
		for i := range w {
			x := g.XMin + (float64(i)+0.5)/float64(w)*(g.XMax-g.XMin)
			g.interpolate(d.Probabilities, x, y, probs)
			class, lead := topClass(probs)
			step := math.Min(math.Floor(lead*fieldSteps), fieldSteps-1)
			col := tint(palette[class], step/(fieldSteps-1))
			img.SetRGBA(i, j, color.RGBA{col.R, col.G, col.B, 0xFF})
		}
	}
	return img
}

// tint returns a light shade of col: nearly white at strength 0, and light enough at 1 for points
// of the same colour to stand out.
func tint(col color.NRGBA, strength float64) color.NRGBA {
	a := 0.05 + 0.35*strength
	mix := func(v uint8) uint8 { return uint8(math.Round(255 + a*(float64(v)-255))) }
	return color.NRGBA{mix(col.R), mix(col.G), mix(col.B), 0xFF}
}

// drawBoundary draws where the decision changes, by marching squares.
func (d Decision) drawBoundary(c draw.Canvas, x, y func(float64) vg.Length) {
	var line vg.Path
	for _, s := range d.boundary() {
		line.Move(vg.Point{X: x(s[0]), Y: y(s[1])})
		line.Line(vg.Point{X: x(s[2]), Y: y(s[3])})
	}
	if len(line) == 0 {
		return
	}
	c.SetLineStyle(solid(ink, 1.6))
	c.Stroke(line)
}

// boundary returns the pieces (x0, y0, x1, y1) of the lines where the most probable class changes.
// With two classes, one of them is enough.
func (d Decision) boundary() [][4]float64 {
	g := d.Grid.standard()
	classes := len(d.Classes)
	if classes == 2 {
		classes = 1
	}
	var out [][4]float64
	lead := make([]float64, g.Columns*g.Rows)
	for class := range classes {
		for k := range lead {
			lead[k] = d.lead(k, class)
		}
		for j := range g.Rows - 1 {
			for i := range g.Columns - 1 {
				out = g.march(out, lead, i, j)
			}
		}
	}
	return out
}

// lead returns the margin of a class at point k of the grid.
func (d Decision) lead(k, class int) float64 {
	row := d.Probabilities.Row(k)
	probs := make([]float64, len(row))
	for c, v := range row {
		probs[c] = float64(v)
	}
	return classMargin(probs, class)
}

// march appends the pieces of the zero line of v in one square of the grid. Zero counts as
// positive, so equal values never give a piece.
func (g Grid) march(out [][4]float64, v []float64, i, j int) [][4]float64 {
	corners := [4][2]int{{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}}
	at := func(k int) float64 { return v[corners[k%4][1]*g.Columns+corners[k%4][0]] }
	var cuts [][2]float64
	for k := range 4 {
		a, b := at(k), at(k+1)
		if (a >= 0) == (b >= 0) {
			continue
		}
		t := a / (a - b)
		p, q := corners[k], corners[(k+1)%4]
		cuts = append(cuts, [2]float64{
			g.x(p[0]) + t*(g.x(q[0])-g.x(p[0])),
			g.y(p[1]) + t*(g.y(q[1])-g.y(p[1])),
		})
	}
	// In a saddle with four cuts the pieces cut off the second and the fourth corner
	// if the middle has the sign of the first one, else the other two.
	if len(cuts) == 4 && (at(0)+at(1)+at(2)+at(3) >= 0) != (at(0) >= 0) {
		cuts = [][2]float64{cuts[3], cuts[0], cuts[1], cuts[2]}
	}
	for k := 0; k+1 < len(cuts); k += 2 {
		out = append(out, [4]float64{cuts[k][0], cuts[k][1], cuts[k+1][0], cuts[k+1][1]})
	}
	return out
}

func (d Decision) drawPoints(c draw.Canvas, kind PointKind, x, y func(float64) vg.Length) {
	size := vg.Length(clamp(float64(c.Size().X/px(420)), 0.7, 1)) // smaller in a panel
	for _, s := range d.Points {
		if s.Kind != kind {
			continue
		}
		for i := range s.X {
			if !d.Grid.contains(s.X[i], s.Y[i]) {
				continue
			}
			col := ink
			if s.Class != nil {
				col = palette[s.Class[i]]
			}
			pointMark(c, vg.Point{X: x(s.X[i]), Y: y(s.Y[i])}, kind, col, size)
		}
	}
}

// pointMark draws a point of a kind, at a fraction of its full size.
func pointMark(c draw.Canvas, pt vg.Point, kind PointKind, col color.NRGBA, size vg.Length) {
	switch kind {
	case Forgotten:
		p := trianglePath(pt, size*px(5.4))
		c.SetColor(col)
		c.Fill(p)
		c.SetLineStyle(solid(paperInk, 1.3*float64(size)))
		c.Stroke(p)
	case HeldOut:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: size * px(4), Shape: cross{}}, pt)
	default:
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: paperFill, Radius: size * px(3.5), Shape: draw.CircleGlyph{}}, pt)
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: col, Radius: size * px(2.7), Shape: draw.CircleGlyph{}}, pt)
	}
}

// trianglePath returns a triangle that points up, centred on pt.
func trianglePath(pt vg.Point, r vg.Length) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: pt.X, Y: pt.Y + r})
	p.Line(vg.Point{X: pt.X + r*0.88, Y: pt.Y - r*0.62})
	p.Line(vg.Point{X: pt.X - r*0.88, Y: pt.Y - r*0.62})
	p.Close()
	return p
}
