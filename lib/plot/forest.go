// Forest plots: one estimate with its interval per row.

package plot

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/lethe-ml/lethe/lib/stats"
)

// ForestRow is one line of a Forest.
type ForestRow struct {
	Group    string // rows of one group follow each other under its name
	Label    string
	Estimate stats.Estimate // without an interval where Low and High are both NaN
	P        *float64
	Paper    *float64 // the value printed in the paper
	Control  bool     // drawn in grey
	Missing  string   // the reason why there is no estimate; the row is empty
}

// Forest shows one estimate with its interval per row against the null, and the numbers beside it.
// A paper's value is a hollow diamond. An interval that extends beyond the axis ends in an arrow.
type Forest struct {
	Meta
	X      Axis
	Rows   []ForestRow
	Null   *Null
	Digits int // after the point; 0 means 3

	unitInTitle bool // the unit of the intervals is in the heading
}

var _ Figure = Forest{}

// Render implements Figure.
func (f Forest) Render(w io.Writer, format string) error { return render(f, w, format) }

// PNG implements Figure.
func (f Forest) PNG() ([]byte, error) { return renderPNG(f) }

// Text implements Figure.
func (f Forest) Text() string { return asText(f) }

func (f Forest) check() error {
	var p problems
	p.refuse(len(f.Rows) == 0, noData)
	f.X.check(&p, "x")
	f.Null.check(&p, "forest", f.X.Log)
	for _, r := range f.Rows {
		r.check(&p, f.X.Log)
	}
	return p.err
}

func (r ForestRow) check(p *problems, log bool) {
	where := fmt.Sprintf("row %q", r.Label)
	if r.Group != "" {
		where = fmt.Sprintf("row %q of %q", r.Label, r.Group)
	}
	p.optional(r.Paper, log, "%s: paper value", where)
	if r.P != nil {
		p.refuse(!(*r.P >= 0 && *r.P <= 1), "%s: p is %v", where, *r.P)
	}
	if r.Missing != "" {
		return
	}
	e := r.Estimate
	p.value(e.Value, log, "%s: value", where)
	if r.hasInterval() {
		p.value(e.Low, log, "%s: lower bound", where)
		p.value(e.High, log, "%s: upper bound", where)
		p.refuse(e.Low > e.High, "%s: the interval runs from %v to %v", where, e.Low, e.High)
	}
}

func (r ForestRow) hasInterval() bool {
	return !math.IsNaN(r.Estimate.Low) || !math.IsNaN(r.Estimate.High)
}

// VegaLite implements Interactive: the rows of the picture with their numbers beside them;
// tooltips have the interval's level and unit.
func (f Forest) VegaLite() ([]byte, error) { return vegaLite(f) }

func (f Forest) scene() scene {
	s := scene{x: scale{Axis: f.X, grid: true}, heads: columnHeads, top: f.X.Label, heading: f.heading()}
	s.series, s.signs = f.series()
	tips := tooltip("label", "row", "group", "group", "estimate", "estimate", "interval", "interval", "level", "interval of", "p", "p", "paper",
		"printed in the paper")
	rows, papers := f.addLines(&s)
	s.marks = append(f.Null.marks("x"),
		mark{kind: rules, rows: rows, needs: "low", x: "low", x2: "high", y: "row", width: 1.8, tip: size{most: 3.5}, tips: tips, sign: '\u2500'},
		mark{kind: points, rows: rows, x: "estimate", y: "row", radius: size{most: 4.2}, area: 65, tips: tips, sign: '\u25cf'},
		paperMarks(papers, "paper", "row", tips))
	s.cover(&s.x)
	s.notes = []string{textLegend(f.Null != nil, "\u25cf method   \u25a0 control   \u25c7 printed in the paper")}
	return s
}

// addLines adds the lines, each group under its name, and returns the estimates and the paper's
// values.
func (f Forest) addLines(s *scene) (rows, papers []datum) {
	group := ""
	for _, r := range f.Rows {
		if r.Group != group {
			group = r.Group
			s.lines = append(s.lines, line{heading: true, name: group})
		}
		row := object{"row": len(s.lines), "label": oneLine(r.Label), "group": oneLine(r.Group)}
		if r.P != nil {
			row["p"] = *r.P
		}
		if r.Paper != nil {
			row["paper"] = *r.Paper
			papers = append(papers, datum{row: row})
		}
		if r.Missing == "" {
			rows = append(rows, f.estimate(r, row, s.series))
		}
		s.lines = append(s.lines, line{name: r.Label, indent: group != "", control: r.Control, faint: r.Control || r.Missing != "",
			null: f.Null, cells: f.cells(r)})
	}
	return rows, papers
}

// series returns the estimates and the controls, if there are some, and their explanations for
// Vega-Lite, in whose legend a long label is cut.
func (f Forest) series() (out []series, signs []string) {
	ls := seriesStyles([]seriesID{{}, {control: true}})
	if name, ok := f.interval(); ok {
		if f.unitInTitle {
			name = " and interval"
		}
		out, signs = append(out, series{"estimate" + name, ls[0]}), append(signs, "circle: estimate"+name)
	}
	if f.firstIndex(func(r ForestRow) bool { return r.Control && r.Missing == "" }) >= 0 {
		ls[1].shape = methodShapes[1]
		out, signs = append(out, series{"control", ls[1]}), append(signs, "grey square: control")
	}
	return out, signs
}

// estimate adds the numbers of an estimate to its row.
func (f Forest) estimate(r ForestRow, row object, names []series) datum {
	d := datum{row: row}
	if r.Control {
		d.series, d.sign = len(names)-1, '\u25a0'
	}
	row["series"], row["estimate"] = oneLine(names[d.series].name), r.Estimate.Value
	if r.hasInterval() {
		row["low"], row["high"] = r.Estimate.Low, r.Estimate.High
		row["interval"] = intervalWords(r.Estimate.Low, r.Estimate.High, f.digits())
		row["level"] = strings.TrimPrefix(r.intervalName(), " and ")
	}
	return d
}

// interval returns the name of the estimates' intervals; ok is false without estimates.
func (f Forest) interval() (name string, ok bool) {
	i := f.firstIndex(func(r ForestRow) bool { return !r.Control && r.Missing == "" })
	if i < 0 {
		return "", false
	}
	return f.Rows[i].intervalName(), true
}

// heading returns the title above a panel, with the name of the intervals if the legend does not
// have it.
func (f Forest) heading() string {
	name, ok := f.interval()
	if name = strings.TrimPrefix(name, " and "); !f.unitInTitle || !ok || name == "" {
		return ""
	}
	return f.Title + ", " + name
}

// intervalName returns a text such as " and 95 % interval over seeds".
func (r ForestRow) intervalName() string {
	if !r.hasInterval() {
		return ""
	}
	s := " and interval"
	if l := r.Estimate.Level; l > 0 && l < 1 {
		s = fmt.Sprintf(" and %.4g %% interval", 100*l)
	}
	if r.Estimate.Over != "" {
		s += " over " + r.Estimate.Over
	}
	if r.Estimate.Overlapping() {
		s += ", which overlap (too narrow)"
	}
	return s
}

func (f Forest) firstIndex(match func(ForestRow) bool) int {
	for i, r := range f.Rows {
		if match(r) {
			return i
		}
	}
	return -1
}

func (f Forest) body(vg.Length) vg.Length {
	return f.height(float64(lineHeight*(len(f.scene().lines)+1)) + 52)
}
