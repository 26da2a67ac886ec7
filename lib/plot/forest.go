// Forest plots: one estimate with its interval per row.

package plot

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

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

func (f Forest) meta() Meta { return f.Meta }

func (f Forest) check() error {
	if len(f.Rows) == 0 {
		return errEmpty
	}
	if err := f.X.check("x"); err != nil {
		return err
	}
	if err := f.Null.check("forest", f.X.Log); err != nil {
		return err
	}
	for _, r := range f.Rows {
		if err := f.checkRow(r); err != nil {
			return err
		}
	}
	return nil
}

func (f Forest) checkRow(r ForestRow) error {
	where := fmt.Sprintf("row %q", r.Label)
	if r.Group != "" {
		where = fmt.Sprintf("row %q of %q", r.Label, r.Group)
	}
	if r.Paper != nil {
		if err := checkValues(where+": paper value", f.X.Log, *r.Paper); err != nil {
			return err
		}
	}
	if r.P != nil && !(*r.P >= 0 && *r.P <= 1) {
		return fmt.Errorf("%s: p is %v", where, *r.P)
	}
	if r.Missing != "" {
		return nil
	}
	e := r.Estimate
	if err := checkValues(where+": value", f.X.Log, e.Value); err != nil {
		return err
	}
	if !r.hasInterval() {
		return nil
	}
	if err := checkValues(where+": lower bound", f.X.Log, e.Low); err != nil {
		return err
	}
	if err := checkValues(where+": upper bound", f.X.Log, e.High); err != nil {
		return err
	}
	if e.Low > e.High {
		return fmt.Errorf("%s: the interval runs from %v to %v", where, e.Low, e.High)
	}
	return nil
}

func (r ForestRow) hasInterval() bool {
	return !math.IsNaN(r.Estimate.Low) || !math.IsNaN(r.Estimate.High)
}

func (f Forest) rangeX() span {
	all := newSpan()
	all.addNull(f.Null)
	for _, r := range f.Rows {
		if r.Paper != nil {
			all.add(*r.Paper)
		}
		if r.Missing != "" {
			continue
		}
		all.add(r.Estimate.Value)
		if r.hasInterval() {
			all.add(r.Estimate.Low, r.Estimate.High)
		}
	}
	return all.fit(f.X)
}

// forestLine is a line of the drawing: a group's name or an estimate.
type forestLine struct {
	group string
	row   *ForestRow
}

func (f Forest) lines() []forestLine {
	var out []forestLine
	group := ""
	for i := range f.Rows {
		if r := &f.Rows[i]; r.Group != group {
			group = r.Group
			out = append(out, forestLine{group: group})
		}
		out = append(out, forestLine{row: &f.Rows[i]})
	}
	return out
}

func (f Forest) legend() []entry {
	point := func(label string, l seriesStyle) entry {
		return entry{label: label, styleKey: label, sample: func(c draw.Canvas) {
			c.StrokeLine2(solid(l.col, 1.8), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
			c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.col, Radius: px(4), Shape: l.shape}, c.Center())
		}}
	}
	var out []entry
	ls := seriesStyles([]seriesID{{}, {control: true}})
	ls[1].shape = draw.BoxGlyph{}
	if name, ok := f.interval(); ok {
		if f.unitInTitle {
			name = " and interval"
		}
		out = append(out, point("estimate"+name, ls[0]))
	}
	if i := f.firstIndex(func(r ForestRow) bool { return r.Control && r.Missing == "" }); i >= 0 {
		out = append(out, point("control", ls[1]))
	}
	out = append(out, f.Null.entries(true)...)
	if f.firstIndex(func(r ForestRow) bool { return r.Paper != nil }) >= 0 {
		out = append(out, paperEntry())
	}
	return out
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
		return f.Title
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

// forestRow is the height of a row in CSS pixels.
const forestRow = 23

func (f Forest) body(vg.Length) vg.Length {
	return f.height(float64(forestRow*(len(f.lines())+1)) + 52)
}

func (f Forest) draw(c draw.Canvas) {
	lines := f.lines()
	t := f.columns()
	left := vg.Length(0)
	for _, l := range lines {
		left = max(left, f.labelWidth(l))
	}
	left = min(left, (c.Max.X-c.Min.X)*0.4)
	inner := draw.Crop(c, left+px(14), -t.width()-px(14), 0, -px(forestRow))

	p := newPlot(inner, f.X, Axis{}, f.rangeX(), span{0, float64(len(lines))})
	p.HideY()
	p.Y.Width = 0
	p.Add(grid{x: true}, layer(func(pc draw.Canvas, x, y func(float64) vg.Length) {
		drawNullVertical(pc, f.Null, x)
		t.drawHeadings(c, pc.Max.X+px(14), pc.Max.Y+px(7))
		for i, l := range lines {
			at := y(float64(len(lines)-i) - 0.5)
			if l.row == nil {
				headPen().middle(c, c.Min.X, at, 0, l.group)
				c.StrokeLine2(solid(gridLine, 1), c.Min.X, at+px(forestRow)/2, c.Max.X, at+px(forestRow)/2)
				continue
			}
			f.drawRow(pc, *l.row, x, at)
			f.drawLabel(c, *l.row, left, at)
			t.row(c, *l.row, pc.Max.X+px(14), at)
		}
	}))
	p.Draw(inner)
}

// indent returns the indent of rows under a group's name.
func (r ForestRow) indent() vg.Length {
	if r.Group == "" {
		return 0
	}
	return px(12)
}

func (f Forest) labelWidth(l forestLine) vg.Length {
	if l.row == nil {
		return 0 // a group's name may run into the drawing, whose row is empty there
	}
	return smallPen().width(l.row.Label) + l.row.indent() + px(2)
}

func (f Forest) drawLabel(c draw.Canvas, r ForestRow, room, at vg.Length) {
	p := smallPen()
	if r.Control {
		p.col = inkSoft
	}
	label := r.Label
	if p.width(label) > room-r.indent() {
		label = fit(p, label, room-r.indent()-p.width("\u2026")) + "\u2026"
	}
	p.middle(c, c.Min.X+r.indent(), at, 0, label)
}

func (f Forest) drawRow(c draw.Canvas, r ForestRow, x func(float64) vg.Length, at vg.Length) {
	l := seriesStyles([]seriesID{{control: r.Control}})[0]
	shape := draw.GlyphDrawer(draw.CircleGlyph{})
	if r.Control {
		shape = draw.BoxGlyph{}
	}
	if r.Missing == "" && r.hasInterval() {
		drawInterval(c, solid(l.col, 1.8), x(r.Estimate.Low), x(r.Estimate.High), at)
	}
	if r.Missing == "" {
		c.DrawGlyph(draw.GlyphStyle{Color: l.col, Radius: px(4.2), Shape: shape}, vg.Point{X: x(r.Estimate.Value), Y: at})
	}
	if r.Paper != nil && c.ContainsX(x(*r.Paper)) {
		paperMark(c, vg.Point{X: x(*r.Paper), Y: at}, px(5.2))
	}
}

// drawInterval draws a horizontal interval; an end outside the drawing becomes an arrow.
func drawInterval(c draw.Canvas, ls draw.LineStyle, lo, hi, at vg.Length) {
	if hi < c.Min.X || lo > c.Max.X {
		return
	}
	a, b := max(lo, c.Min.X), min(hi, c.Max.X)
	c.StrokeLine2(ls, a, at, b, at)
	end := func(x, inward vg.Length, cut bool) {
		if cut {
			c.StrokeLines(ls, []vg.Point{{X: x + inward*px(5), Y: at + px(4)}, {X: x, Y: at}, {X: x + inward*px(5), Y: at - px(4)}})
			return
		}
		c.StrokeLine2(ls, x, at-px(3.5), x, at+px(3.5))
	}
	end(a, 1, lo < c.Min.X)
	end(b, -1, hi > c.Max.X)
}
