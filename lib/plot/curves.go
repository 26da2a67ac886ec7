// Figures of curves: lines with bands.

package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/vg"
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
}

var _ Figure = Curves{}

// Render implements Figure.
func (f Curves) Render(w io.Writer, format string) error { return render(f, w, format) }

// PNG implements Figure.
func (f Curves) PNG() ([]byte, error) { return renderPNG(f) }

// Text implements Figure.
func (f Curves) Text() string { return asText(f) }

func (f Curves) check() error {
	var p problems
	p.refuse(len(f.Curves) == 0, noData)
	f.X.check(&p, "x")
	f.Y.check(&p, "y")
	for _, c := range f.Curves {
		c.check(&p, f.X.Log, f.Y.Log)
	}
	for _, m := range f.Marks {
		p.value(m.X, f.X.Log, "mark %q", m.Label)
	}
	checkPaper(&p, f.Paper, f.X.Log, f.Y.Log)
	f.Null.check(&p, "curves", f.Y.Log)
	return p.err
}

func (c Curve) check(p *problems, logX, logY bool) {
	n := len(c.X)
	p.refuse(n == 0, "curve %q is empty", c.Name)
	p.refuse(len(c.Y) != n, "curve %q has %d x and %d y", c.Name, n, len(c.Y))
	p.refuse(len(c.Low) != len(c.High) || len(c.Low) != 0 && len(c.Low) != n,
		"curve %q has %d points and a band of %d and %d", c.Name, n, len(c.Low), len(c.High))
	part := func(name string, log bool, vs []float64) {
		for i, v := range vs {
			p.value(v, log, "curve %q, %s of point %d", c.Name, name, i+1)
		}
	}
	part("x", logX, c.X)
	part("y", logY, c.Y)
	part("lower bound", logY, c.Low)
	part("upper bound", logY, c.High)
}

func (f Curves) body(vg.Length) vg.Length { return f.height(340) }

// VegaLite implements Interactive.
func (f Curves) VegaLite() ([]byte, error) { return vegaLite(f) }

func (f Curves) scene() scene {
	s := scene{x: scale{Axis: f.X}, y: scale{Axis: f.Y, grid: true}, sharesY: true}
	for _, c := range f.Curves {
		s.addSeries(c.Name, c.Control, c.Name)
	}
	xName, yName := cmp.Or(oneLine(f.X.Label), "x"), cmp.Or(oneLine(f.Y.Label), "y")
	curves := mark{kind: paths, rows: f.rows(), table: "points", x: "x", y: "y", width: 2,
		tips: tooltip("series", "curve", "x", xName, "y", yName, "interval", "interval")}
	bands := mark{kind: areas, rows: curves.rows, table: "points", x: "x", y: "low", y2: "high", needs: "low", opacity: 0.18}
	s.marks = append(f.Null.marks("y"), bands, curves)
	s.marks = append(s.marks, f.eventMarks()...)
	s.marks = append(s.marks, paperMarks(paperRows(f.Paper), "x", "y", tooltip("label", "paper", "x", xName, "y", yName)))
	s.cover(&s.x, &s.y)
	s.notes = append(f.lastValues(), paperNotes(f.Paper)...)
	return s
}

// rows returns the points of all curves.
func (f Curves) rows() []datum {
	var out []datum
	for k, s := range f.Curves {
		for i := range s.X {
			row := object{"series": oneLine(s.Name), "i": i, "x": s.X[i], "y": s.Y[i]}
			if len(s.X) == 1 {
				row["alone"] = true
			}
			if len(s.Low) > 0 {
				row["low"], row["high"] = s.Low[i], s.High[i]
				row["interval"] = intervalWords(s.Low[i], s.High[i], digitsFor(s.Y[i]))
			}
			out = append(out, datum{series: k, sign: letter(k), row: row})
		}
	}
	return out
}

// eventMarks returns the vertical lines; their labels are above the drawing, where they cover no
// data.
func (f Curves) eventMarks() []mark {
	var rows []datum
	for _, m := range f.Marks {
		rows = append(rows, datum{row: object{"x": m.X, "label": oneLine(m.Label)}})
	}
	return []mark{{kind: rules, rows: rows, x: "x", col: inkSoft, width: 1}, {kind: words, rows: rows, x: "x", text: "label", col: ink}}
}

// lastValues returns where the curves end, and where the vertical lines are.
func (f Curves) lastValues() []string {
	var out []string
	for i, s := range f.Curves {
		last := len(s.Y) - 1
		end := formatTick(s.Y[last], digitsFor(s.Y[last]))
		if len(s.Low) > 0 {
			end += fmt.Sprintf(" [%s, %s]", formatTick(s.Low[last], digitsFor(s.Y[last])), formatTick(s.High[last], digitsFor(s.Y[last])))
		}
		out = append(out, fmt.Sprintf("%c %s: ends at %s", letter(i), oneLine(s.Name), end))
	}
	for _, m := range f.Marks {
		out = append(out, fmt.Sprintf("%s: at %s", oneLine(m.Label), shortNumber(m.X)))
	}
	return out
}

// digitsFor returns the digits after the point with which v has about four significant digits.
func digitsFor(v float64) int {
	if v == 0 {
		return 3
	}
	return int(clamp(3-math.Floor(math.Log10(math.Abs(v))), 0, 6))
}
