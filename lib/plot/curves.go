// Figures of curves: lines with bands.

package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is one line of a Curves figure, in the order of its points. Low and High, if given, are a
// band around it, such as an interval over seeds.
type Curve struct {
	Name      string
	X, Y      []float64
	Low, High []float64
	Control   bool // drawn in grey and dashed, with markers
}

// Mark is a vertical line with a label: "unlearning starts".
type Mark struct {
	X     float64
	Label string
}

// Curves shows lines with bands, such as training curves.
type Curves struct {
	Meta
	X, Y   Axis
	Curves []Curve
	Null   *Null // a horizontal line and band
	Marks  []Mark
	Paper  []PaperPoint

	allSeries []seriesID // of the panels around it
}

var _ Figure = Curves{}

// Render implements Figure.
func (f Curves) Render(w io.Writer, format string) error { return render(f, w, format) }

// PNG implements Figure.
func (f Curves) PNG() ([]byte, error) { return renderPNG(f) }

// Text implements Figure.
func (f Curves) Text() string { return asText(f) }

func (f Curves) meta() Meta { return f.Meta }

func (f Curves) check() error {
	if len(f.Curves) == 0 {
		return errEmpty
	}
	if err := f.X.check("x"); err != nil {
		return err
	}
	if err := f.Y.check("y"); err != nil {
		return err
	}
	for _, s := range f.Curves {
		if err := f.checkCurve(s); err != nil {
			return err
		}
	}
	for _, m := range f.Marks {
		if err := checkValues(fmt.Sprintf("mark %q", m.Label), f.X.Log, m.X); err != nil {
			return err
		}
	}
	if err := checkPaper(f.Paper, f.X.Log, f.Y.Log); err != nil {
		return err
	}
	return f.Null.check("curves", f.Y.Log)
}

func (f Curves) checkCurve(s Curve) error {
	n := len(s.X)
	if n == 0 {
		return fmt.Errorf("curve %q is empty", s.Name)
	}
	if len(s.Y) != n {
		return fmt.Errorf("curve %q has %d x and %d y", s.Name, n, len(s.Y))
	}
	if len(s.Low) != len(s.High) || len(s.Low) != 0 && len(s.Low) != n {
		return fmt.Errorf("curve %q has %d points and a band of %d and %d", s.Name, n, len(s.Low), len(s.High))
	}
	if err := f.checkPart(s, "x", f.X.Log, s.X); err != nil {
		return err
	}
	if err := f.checkPart(s, "y", f.Y.Log, s.Y); err != nil {
		return err
	}
	if err := f.checkPart(s, "lower bound", f.Y.Log, s.Low); err != nil {
		return err
	}
	return f.checkPart(s, "upper bound", f.Y.Log, s.High)
}

func (f Curves) checkPart(s Curve, name string, log bool, vs []float64) error {
	for i, v := range vs {
		if err := checkValues(fmt.Sprintf("curve %q, %s of point %d", s.Name, name, i+1), log, v); err != nil {
			return err
		}
	}
	return nil
}

func (f Curves) spans() (x, y span) {
	x, y = newSpan(), newSpan()
	y.addNull(f.Null)
	for _, s := range f.Curves {
		x.add(s.X...)
		y.add(s.Y...)
		y.add(s.Low...)
		y.add(s.High...)
	}
	for _, m := range f.Marks {
		x.add(m.X)
	}
	for _, p := range f.Paper {
		x.add(p.X)
		y.add(p.Y)
	}
	return x.fit(f.X), y.fit(f.Y)
}

func (f Curves) limitY(lo, hi float64) drawing { f.Y.Min, f.Y.Max = &lo, &hi; return f }
func (f Curves) rangeY() span                  { _, y := f.spans(); return y }

func (f Curves) seriesIDs() []seriesID {
	out := make([]seriesID, len(f.Curves))
	for i, s := range f.Curves {
		out[i] = seriesID{s.Name, s.Control}
	}
	return out
}

func (f Curves) withAllSeries(allSeries []seriesID) drawing { f.allSeries = allSeries; return f }
func (f Curves) styles() []seriesStyle                      { return stylesAmong(f.seriesIDs(), f.allSeries) }

// markerIndex returns the number of line i among those with markers, or -1 if it has none.
// Controls have markers, because the null is a dashed line too, and so do methods if there are
// several.
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

func (f Curves) legend() []entry {
	var out []entry
	ls := f.styles()
	for i, l := range ls {
		out = append(out, lineEntry(f.Curves[i].Name, l, len(f.Curves[i].Low) > 0, markerIndex(ls, i) >= 0))
	}
	return append(append(out, f.Null.entries(false)...), paperEntries(f.Paper)...)
}

// marks returns the style of the markers along a line.
func marks(l seriesStyle) draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.col, Radius: px(4), Shape: l.shape}
}

// lineEntry returns a line's legend entry.
func lineEntry(name string, l seriesStyle, band, signs bool) entry {
	return entry{label: name, styleKey: fmt.Sprint(l.col, l.dashes), sample: func(c draw.Canvas) {
		if band {
			fillRect(c, alpha(l.col, 0.18), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
		}
		style := solid(l.col, 2)
		style.Dashes = l.dashes
		c.StrokeLine2(style, c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
		if signs {
			c.DrawGlyphNoClip(marks(l), c.Center())
		}
	}}
}

func (f Curves) body(vg.Length) vg.Length { return f.height(340) }

func (f Curves) draw(c draw.Canvas) {
	if len(f.Marks) > 0 {
		c = draw.Crop(c, 0, 0, 0, -smallPen().leading())
	}
	xs, ys := f.spans()
	p := newPlot(c, f.X, f.Y, xs, ys)
	p.Add(grid{y: true}, layer(func(c draw.Canvas, x, y func(float64) vg.Length) {
		drawNullHorizontal(c, f.Null, y, c.Min.X, c.Max.X)
		ls := f.styles()
		for i, s := range f.Curves {
			fillBand(c, s, alpha(ls[i].col, 0.18), x, y)
		}
		for i, s := range f.Curves {
			drawLine(c, s, ls[i], markerIndex(ls, i), x, y)
		}
		f.drawMarks(c, x)
		drawPaperPoints(c, f.Paper, x, y)
	}))
	p.Draw(c)
}

// fillBand fills the band around a curve.
func fillBand(c draw.Canvas, s Curve, col color.Color, x, y func(float64) vg.Length) {
	if len(s.Low) == 0 {
		return
	}
	var pts []vg.Point
	for i, v := range s.High {
		pts = append(pts, vg.Point{X: x(s.X[i]), Y: y(v)})
	}
	for i := len(s.Low) - 1; i >= 0; i-- {
		pts = append(pts, vg.Point{X: x(s.X[i]), Y: y(s.Low[i])})
	}
	pts = c.ClipPolygonXY(pts)
	if len(pts) < 3 {
		return
	}
	var area vg.Path
	area.Move(pts[0])
	for _, pt := range pts[1:] {
		area.Line(pt)
	}
	area.Close()
	c.SetColor(col)
	c.Fill(area)
}

// drawLine draws a curve. If signs is not negative it draws markers too; signs is the number of
// the line and shifts them, so that markers of lines that coincide do not cover each other.
func drawLine(c draw.Canvas, s Curve, l seriesStyle, signs int, x, y func(float64) vg.Length) {
	pts := make([]vg.Point, len(s.X))
	for i := range s.X {
		pts[i] = vg.Point{X: x(s.X[i]), Y: y(s.Y[i])}
	}
	style := solid(l.col, 2)
	style.Dashes = l.dashes
	if len(pts) == 1 {
		c.DrawGlyph(draw.GlyphStyle{Color: l.col, Radius: px(3.5), Shape: l.shape}, pts[0])
		return
	}
	c.StrokeLines(style, c.ClipLinesXY(pts)...)
	if signs >= 0 {
		drawMarksAlong(c, pts, l, px(markEvery*math.Mod(0.5+0.37*float64(signs), 1)))
	}
}

// markEvery is the distance of two markers on a line, in CSS pixels.
const markEvery = 70

// drawMarksAlong draws markers along a line, the first one at the distance next from its start.
func drawMarksAlong(c draw.Canvas, pts []vg.Point, l seriesStyle, next vg.Length) {
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		way := vg.Length(math.Hypot(float64(b.X-a.X), float64(b.Y-a.Y)))
		for ; next <= way; next += px(markEvery) {
			t := next / way
			if at := (vg.Point{X: a.X + t*(b.X-a.X), Y: a.Y + t*(b.Y-a.Y)}); c.ContainsX(at.X) && c.ContainsY(at.Y) {
				c.DrawGlyph(marks(l), at)
			}
		}
		next -= way
	}
}

// drawMarks draws the marks as vertical lines; their labels are above the drawing, where they
// cover no data.
func (f Curves) drawMarks(c draw.Canvas, x func(float64) vg.Length) {
	for _, m := range f.Marks {
		at := x(m.X)
		if !c.ContainsX(at) {
			continue
		}
		c.StrokeLine2(solid(inkSoft, 1), at, c.Min.Y, at, c.Max.Y)
		half := smallPen().width(m.Label) / 2
		smallPen().write(c, clamp(at, c.Min.X+half, c.Max.X-half), c.Max.Y+px(4), 0.5, m.Label)
	}
}

// text prints the curves into one raster, with their last values.
func (f Curves) text() string {
	xs, ys := f.spans()
	r := newRaster(xs, ys, f.X.Log, f.Y.Log)
	if f.Null != nil {
		r.horizontalLine(f.Null.Value, '\u2504')
	}
	var b strings.Builder
	for i, s := range f.Curves {
		r.line(s.X, s.Y, letter(i))
	}
	for _, p := range f.Paper {
		r.set(p.X, p.Y, '\u25c7')
	}
	r.write(&b, f.X.Label, f.Y.Label)
	for i, s := range f.Curves {
		last := len(s.Y) - 1
		end := formatTick(s.Y[last], digitsFor(s.Y[last]))
		if len(s.Low) > 0 {
			end += fmt.Sprintf(" [%s, %s]", formatTick(s.Low[last], digitsFor(s.Y[last])), formatTick(s.High[last], digitsFor(s.Y[last])))
		}
		writeLine(&b, fmt.Sprintf("%c %s: ends at %s", letter(i), oneLine(s.Name), end))
	}
	for _, m := range f.Marks {
		writeLine(&b, fmt.Sprintf("%s: at %s", oneLine(m.Label), shortNumber(m.X)))
	}
	paperText(&b, f.Paper)
	return b.String()
}

// digitsFor returns the digits after the point with which v has about four significant digits.
func digitsFor(v float64) int {
	if v == 0 {
		return 3
	}
	return int(clamp(3-math.Floor(math.Log10(math.Abs(v))), 0, 6))
}
