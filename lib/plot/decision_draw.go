// Drawing of decision figures: colours, boundary, points.

package plot

import (
	"image"
	"image/color"
	"math"
)

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

// boundaryMark returns the lines where the decision changes, by marching squares.
func (d Decision) boundaryMark() mark {
	m := mark{kind: pieces, x: "x", y: "y", x2: "x2", y2: "y2", col: ink, width: 1.6, means: "decision changes"}
	for _, p := range d.boundary() {
		m.rows = append(m.rows, datum{row: object{"x": p[0], "y": p[1], "x2": p[2], "y2": p[3]}})
	}
	return m
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
