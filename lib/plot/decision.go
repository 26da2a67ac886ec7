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

func (d Decision) standardWidth() float64 { return 620 }

// maxPoints bounds the number of points that are drawn one by one.
const maxPoints = 50_000

// maxClasses is the number of classes whose areas, tinted, can be told apart.
const maxClasses = 6

func (d Decision) check() error {
	var p problems
	p.refuse(d.Probabilities.Rows == 0 && len(d.Classes) == 0, noData)
	d.Grid.check(&p)
	classes := len(d.Classes)
	p.refuse(classes < 2 || classes > maxClasses, "%d classes; there can be 2 to %d, more colours cannot be distinguished", classes, maxClasses)
	d.checkProbabilities(&p)
	n := 0
	for i, s := range d.Points {
		p.refuse(s.Kind < Retained || s.Kind > HeldOut, "points %d are of the unknown kind %d", i+1, s.Kind)
		n += len(s.X)
		p.refuse(n > maxPoints, "more than %d points; draw a sample of them", maxPoints)
		if p.err == nil {
			s.check(&p, classes)
		}
	}
	return p.err
}

func (d Decision) checkProbabilities(problems *problems) {
	p, g := d.Probabilities, d.Grid.standard()
	problems.refuse(p.Rows != g.Columns*g.Rows || p.Cols != len(d.Classes), "probabilities are %d x %d; a grid of %d x %d and %d classes need %d x %d",
		p.Rows, p.Cols, g.Columns, g.Rows, len(d.Classes), g.Columns*g.Rows, len(d.Classes))
	if problems.err == nil {
		problems.err = p.Check("probabilities")
	}
	const slack = 1e-3 // float32 sums are not exact
	for i := 0; i < p.Rows && problems.err == nil; i++ {
		sum := 0.0
		for c, v := range p.Row(i) {
			problems.refuse(v < -slack || v > 1+slack, "probabilities: row %d, column %d is %v", i, c, v)
			sum += float64(v)
		}
		problems.refuse(math.Abs(sum-1) > slack, "probabilities: row %d adds up to %.4g, not 1", i, sum)
	}
}

func (s DecisionPoints) check(p *problems, classes int) {
	p.refuse(len(s.X) != len(s.Y), "points %q have %d x and %d y", s.name(), len(s.X), len(s.Y))
	p.refuse(s.Class != nil && len(s.Class) != len(s.X), "%d points %q have %d classes", len(s.X), s.name(), len(s.Class))
	for i := 0; i < len(s.X) && p.err == nil; i++ {
		p.value(s.X[i], false, "points %q, point %d, x", s.name(), i+1)
		p.value(s.Y[i], false, "points %q, point %d, y", s.name(), i+1)
		if s.Class != nil {
			p.refuse(s.Class[i] < 0 || s.Class[i] >= classes, "points %q, point %d has class %d of %d", s.name(), i+1, s.Class[i], classes)
		}
	}
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

func (d Decision) body(w vg.Length) vg.Length {
	return d.height(clamp(float64(w/px(1))*0.75, 200, 460))
}

// scene returns the colours, the lines where the decision changes, and the points, the forgotten
// ones on top.
func (d Decision) scene() scene {
	g := d.Grid.standard()
	s := scene{x: scale{Axis: Axis{Label: d.X.Label}, span: span{g.XMin, g.XMax}}, y: scale{Axis: Axis{Label: d.Y.Label}, span: span{g.YMin, g.YMax}}}
	for c, name := range d.Classes {
		s.series = append(s.series, series{name, seriesStyle{col: palette[c]}})
	}
	s.marks = []mark{{kind: picture, paint: d.field, letter: d.fieldLetter}, d.boundaryMark()}
	for _, kind := range []PointKind{Retained, HeldOut, Forgotten} {
		for _, set := range d.Points {
			if set.Kind == kind {
				s.marks = append(s.marks, set.mark())
			}
		}
	}
	s.notes, s.entries = d.countNotes(), d.kindEntries()
	return s
}

// mark returns the points, in the colours of their classes.
func (s DecisionPoints) mark() mark {
	m := mark{kind: points, x: "x", y: "y", shape: kindShapes[s.Kind].shape, radius: size{most: kindShapes[s.Kind].radius}}
	if s.Class == nil {
		m.col = ink
	}
	for i := range s.X {
		d := datum{sign: pointSign(s, i), row: object{"x": s.X[i], "y": s.Y[i]}}
		if s.Class != nil {
			d.series = s.Class[i]
		}
		m.rows = append(m.rows, d)
	}
	return m
}

// kindShapes are the shapes of the kinds and their radii.
var kindShapes = [...]struct {
	shape  draw.GlyphDrawer
	radius float64
}{Retained: {ringed{}, 2.7}, Forgotten: {edged{}, 5.4}, HeldOut: {cross{}, 4}}

// kindEntries returns the entries of the kinds of points in the legend.
func (d Decision) kindEntries() []entry {
	var out []entry
	seen := map[string]bool{}
	for _, s := range d.Points {
		label, k := s.name(), kindShapes[s.Kind]
		if n := d.outside(s); n > 0 {
			label = fmt.Sprintf("%s (%d outside)", label, n)
		}
		if !seen[label] {
			out = append(out, entry{label: label, styleKey: fmt.Sprint("kind ", s.Kind), sample: func(c draw.Canvas) {
				c.DrawGlyphNoClip(draw.GlyphStyle{Color: inkSoft, Radius: px(k.radius), Shape: k.shape}, c.Center())
			}})
		}
		seen[label] = true
	}
	return out
}
