// Scatter figures: points of several kinds in a plane.

package plot

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"gonum.org/v1/plot/vg"
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
}

var _ Figure = Scatter{}

// Render implements Figure.
func (f Scatter) Render(w io.Writer, format string) error { return render(f, w, format) }

// PNG implements Figure.
func (f Scatter) PNG() ([]byte, error) { return renderPNG(f) }

// Text implements Figure.
func (f Scatter) Text() string { return asText(f) }

func (f Scatter) check() error {
	var p problems
	p.refuse(len(f.Clouds) == 0, noData)
	f.X.check(&p, "x")
	f.Y.check(&p, "y")
	n := 0
	for _, c := range f.Clouds {
		p.refuse(len(c.X) == 0, "cloud %q is empty", c.Name)
		n += len(c.X)
		p.refuse(n > maxPoints, "more than %d points; draw a sample of them", maxPoints)
		Curve{Name: c.Name, X: c.X, Y: c.Y}.check(&p, f.X.Log, f.Y.Log)
	}
	f.Null.check(&p, "scatter", f.Y.Log)
	return p.err
}

func (f Scatter) body(width vg.Length) vg.Length {
	return f.height(clamp(float64(width/px(1))*0.62, 200, 420))
}

func (f Scatter) scene() scene {
	s := scene{x: scale{Axis: f.X, grid: true}, y: scale{Axis: f.Y, grid: true}, sharesY: true}
	clouds := mark{kind: points, x: "x", y: "y", opacity: 0.75, radius: size{most: 2.4}}
	for _, i := range f.order() {
		for k, v := range f.Clouds[i].X {
			clouds.rows = append(clouds.rows, datum{series: i, sign: letter(i), row: object{"x": v, "y": f.Clouds[i].Y[k]}})
		}
	}
	s.marks = append([]mark{clouds}, f.Null.marks("y")...)
	s.cover(&s.x, &s.y)
	for i, c := range f.Clouds {
		s.addSeries(c.Name, c.Control, c.Name)
		s.notes = append(s.notes, fmt.Sprintf("%c %s: %d points", letter(i), oneLine(c.Name), len(c.X)))
	}
	return s
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
