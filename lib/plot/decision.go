// Decision figures: what a classifier of two features predicts over a rectangle.

package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/lethe-ml/lethe/lib/array"
)

// PointKind is the kind of the points of a Decision, which determines their shape.
type PointKind int

// Retained points are small circles, forgotten ones large triangles with a black
// edge, held-out ones crosses.
const (
	Retained PointKind = iota
	Forgotten
	HeldOut
)

var kindNames = [...]string{"retained", "forgotten", "held out"}

// DecisionPoints are points of one kind, coloured by their class.
type DecisionPoints struct {
	Kind  PointKind
	Name  string // "retained", "forgotten" or "held out", when empty
	X, Y  []float64
	Class []int // number of each point's class; nil draws them in black
}

func (s DecisionPoints) name() string { return cmp.Or(s.Name, kindNames[s.Kind]) }

// Decision shows the predictions of a classifier of two features over a rectangle: the colour is
// the most probable class, stronger with a larger margin to the next class, and the line is where
// the decision changes (with two classes: where both have probability 0.5). Side by side in Panels
// it shows a model before and after unlearning and a retrained one.
type Decision struct {
	Meta
	X, Y          Axis // only their labels are used; the grid gives the limits
	Grid          Grid
	Classes       []string              // two to six names
	Probabilities array.Matrix[float32] // a row per point of the grid, a column per class
	Points        []DecisionPoints
}

var _ Figure = Decision{}

// Render implements Figure.
func (d Decision) Render(w io.Writer, format string) error { return render(d, w, format) }

// PNG implements Figure.
func (d Decision) PNG() ([]byte, error) { return renderPNG(d) }

// Text implements Figure.
func (d Decision) Text() string { return asText(d) }

func (d Decision) meta() Meta { return d.Meta }

func (d Decision) standardWidth() float64 { return 620 }

// maxPoints bounds the number of points that are drawn one by one.
const maxPoints = 50_000

// maxClasses is the number of classes whose areas, tinted, can be told apart.
const maxClasses = 6

func (d Decision) check() error {
	if d.Probabilities.Rows == 0 && len(d.Classes) == 0 {
		return errEmpty
	}
	if err := d.Grid.check(); err != nil {
		return err
	}
	if n := len(d.Classes); n < 2 || n > maxClasses {
		return fmt.Errorf("%d classes; there can be 2 to %d, more colours cannot be distinguished", n, maxClasses)
	}
	if err := d.checkProbabilities(); err != nil {
		return err
	}
	n := 0
	for i, s := range d.Points {
		if s.Kind < Retained || s.Kind > HeldOut {
			return fmt.Errorf("points %d are of the unknown kind %d", i+1, s.Kind)
		}
		if err := d.checkPoints(s); err != nil {
			return err
		}
		if n += len(s.X); n > maxPoints {
			return fmt.Errorf("more than %d points; draw a sample of them", maxPoints)
		}
	}
	return nil
}

func (d Decision) checkProbabilities() error {
	p, g := d.Probabilities, d.Grid.standard()
	if p.Rows != g.Columns*g.Rows || p.Cols != len(d.Classes) {
		return fmt.Errorf("probabilities are %d x %d; a grid of %d x %d and %d classes need %d x %d",
			p.Rows, p.Cols, g.Columns, g.Rows, len(d.Classes), g.Columns*g.Rows, len(d.Classes))
	}
	if err := p.Check("probabilities"); err != nil {
		return err
	}
	const slack = 1e-3 // float32 sums are not exact
	for i := range p.Rows {
		sum := 0.0
		for c, v := range p.Row(i) {
			if v < -slack || v > 1+slack {
				return fmt.Errorf("probabilities: row %d, column %d is %v", i, c, v)
			}
			sum += float64(v)
		}
		if math.Abs(sum-1) > slack {
			return fmt.Errorf("probabilities: row %d adds up to %.4g, not 1", i, sum)
		}
	}
	return nil
}

func (d Decision) checkPoints(s DecisionPoints) error {
	if len(s.X) != len(s.Y) {
		return fmt.Errorf("points %q have %d x and %d y", s.name(), len(s.X), len(s.Y))
	}
	if s.Class != nil && len(s.Class) != len(s.X) {
		return fmt.Errorf("%d points %q have %d classes", len(s.X), s.name(), len(s.Class))
	}
	for i := range s.X {
		where := fmt.Sprintf("points %q, point %d", s.name(), i+1)
		if err := checkValues(where+", x", false, s.X[i]); err != nil {
			return err
		}
		if err := checkValues(where+", y", false, s.Y[i]); err != nil {
			return err
		}
		if s.Class != nil && (s.Class[i] < 0 || s.Class[i] >= len(d.Classes)) {
			return fmt.Errorf("%s has class %d of %d", where, s.Class[i], len(d.Classes))
		}
	}
	return nil
}

// outside returns the number of points outside the rectangle.
func (d Decision) outside(s DecisionPoints) int {
	n := 0
	for i := range s.X {
		if !d.Grid.contains(s.X[i], s.Y[i]) {
			n++
		}
	}
	return n
}

func (d Decision) legend() []entry {
	var out []entry
	for c, name := range d.Classes {
		col := palette[c]
		out = append(out, entry{label: name, styleKey: fmt.Sprint(col), sample: func(c draw.Canvas) {
			fillRect(c, tint(col, 0.9), c.Min.X, c.Min.Y, c.Max.X, c.Max.Y)
			pointMark(c, c.Center(), Retained, col, 1)
		}})
	}
	out = append(out, entry{label: "decision changes", styleKey: "boundary", sample: func(c draw.Canvas) {
		c.StrokeLine2(solid(ink, 1.6), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
	}})
	seen := map[string]bool{}
	for _, s := range d.Points {
		label := s.name()
		if n := d.outside(s); n > 0 {
			label = fmt.Sprintf("%s (%d outside)", label, n)
		}
		if !seen[label] {
			out = append(out, entry{label: label, styleKey: fmt.Sprint("kind ", s.Kind), sample: func(c draw.Canvas) {
				pointMark(c, c.Center(), s.Kind, inkSoft, 1)
			}})
		}
		seen[label] = true
	}
	return out
}

func (d Decision) body(w vg.Length) vg.Length {
	return d.height(clamp(float64(w/px(1))*0.75, 200, 460))
}
