// Scatter figures: points of several kinds in a plane.

package plot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Cloud is one kind of points of a Scatter, such as the cells of a type.
type Cloud struct {
	Name    string
	X, Y    []float64
	Control bool // drawn in grey, below the others
}

// Scatter shows points in a plane. Each cloud has its own colour and shape. Smaller clouds are
// drawn over larger ones, so that rare kinds are visible.
type Scatter struct {
	Meta
	X, Y   Axis
	Clouds []Cloud
	Null   *Null // a horizontal line and band

	allSeries []seriesID // of the panels around it
}

var _ Figure = Scatter{}

// Render implements Figure.
func (f Scatter) Render(w io.Writer, format string) error { return render(f, w, format) }

// PNG implements Figure.
func (f Scatter) PNG() ([]byte, error) { return renderPNG(f) }

// Text implements Figure.
func (f Scatter) Text() string { return asText(f) }

func (f Scatter) meta() Meta { return f.Meta }

func (f Scatter) check() error {
	if len(f.Clouds) == 0 {
		return errEmpty
	}
	n := 0
	for _, c := range f.Clouds {
		if len(c.X) == 0 {
			return fmt.Errorf("cloud %q is empty", c.Name)
		}
		if n += len(c.X); n > maxPoints {
			return fmt.Errorf("more than %d points; draw a sample of them", maxPoints)
		}
	}
	return f.asCurves().check()
}

// asCurves returns the same values as curves, which have the same checks.
func (f Scatter) asCurves() Curves {
	out := Curves{Meta: f.Meta, X: f.X, Y: f.Y, Null: f.Null, allSeries: f.allSeries}
	for _, c := range f.Clouds {
		out.Curves = append(out.Curves, Curve{Name: c.Name, X: c.X, Y: c.Y, Control: c.Control})
	}
	return out
}

func (f Scatter) seriesIDs() []seriesID                      { return f.asCurves().seriesIDs() }
func (f Scatter) withAllSeries(allSeries []seriesID) drawing { f.allSeries = allSeries; return f }
func (f Scatter) styles() []seriesStyle                      { return f.asCurves().styles() }
func (f Scatter) limitY(lo, hi float64) drawing              { f.Y.Min, f.Y.Max = &lo, &hi; return f }
func (f Scatter) rangeY() span                               { return f.asCurves().rangeY() }
func (f Scatter) body(width vg.Length) vg.Length {
	return f.height(clamp(float64(width/px(1))*0.62, 200, 420))
}

func (f Scatter) legend() []entry {
	var out []entry
	ls := f.styles()
	for i, c := range f.Clouds {
		l := ls[i]
		out = append(out, entry{label: c.Name, styleKey: "points " + l.marker(), sample: func(c draw.Canvas) {
			c.DrawGlyphNoClip(marks(l), c.Center())
		}})
	}
	return append(out, f.Null.entries(false)...)
}

// order returns the clouds from bottom to top: controls, then the others, the largest first.
func (f Scatter) order() []int {
	out := make([]int, len(f.Clouds))
	for i := range out {
		out[i] = i
	}
	slices.SortStableFunc(out, func(a, b int) int {
		x, y := f.Clouds[a], f.Clouds[b]
		if x.Control == y.Control {
			return cmp.Compare(len(y.X), len(x.X))
		}
		if x.Control {
			return -1
		}
		return 1
	})
	return out
}

func (f Scatter) draw(c draw.Canvas) {
	xs, ys := f.asCurves().spans()
	p := newPlot(c, f.X, f.Y, xs, ys)
	p.Add(grid{x: true, y: true}, layer(func(c draw.Canvas, x, y func(float64) vg.Length) {
		ls := f.styles()
		for _, i := range f.order() {
			style := draw.GlyphStyle{Color: alpha(ls[i].col, 0.75), Radius: px(2.4), Shape: ls[i].shape}
			for k, v := range f.Clouds[i].X {
				c.DrawGlyph(style, vg.Point{X: x(v), Y: y(f.Clouds[i].Y[k])})
			}
		}
		drawNullHorizontal(c, f.Null, y, c.Min.X, c.Max.X)
	}))
	p.Draw(c)
}

// text prints the points into one raster, which shows the top one, and the sizes of the clouds.
func (f Scatter) text() string {
	xs, ys := f.asCurves().spans()
	r := newRaster(xs, ys, f.X.Log, f.Y.Log)
	if f.Null != nil {
		r.horizontalLine(f.Null.Value, '\u2504')
	}
	for _, i := range f.order() {
		for k, v := range f.Clouds[i].X {
			r.set(v, f.Clouds[i].Y[k], letter(i))
		}
	}
	var b strings.Builder
	r.write(&b, f.X.Label, f.Y.Label)
	for i, c := range f.Clouds {
		writeLine(&b, fmt.Sprintf("%c %s: %d points", letter(i), oneLine(c.Name), len(c.X)))
	}
	return b.String()
}
