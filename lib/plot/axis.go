// Axes, null values and ticks.

package plot

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Axis describes an axis; the label includes the unit. Limits that are nil follow from the data.
type Axis struct {
	Label    string
	Min, Max *float64
	Log      bool
	Whole    bool // ticks at whole numbers only: steps, epochs
}

// Null is the value of a metric without an effect, and its chance band, drawn as a dashed line and
// a yellow band.
type Null struct {
	Value     float64
	Label     string   // "null", when empty
	Low, High *float64 // the band, when both are there
	BandLabel string   // "chance band", when empty
}

// span is a range of values. newSpan returns an empty one.
type span struct{ lo, hi float64 }

func newSpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (s *span) add(vs ...float64) {
	for _, v := range vs {
		s.lo, s.hi = math.Min(s.lo, v), math.Max(s.hi, v)
	}
}

// fit widens the span a little so that no mark sits on the frame, and then applies the limits of
// the axis.
func (s span) fit(a Axis) span {
	switch {
	case s.lo > s.hi && a.Log:
		s = span{0.1, 1}
	case s.lo > s.hi:
		s = span{0, 1}
	}
	if a.Log {
		r := math.Max(math.Pow(s.hi/s.lo, 0.04), 1.05)
		s = span{s.lo / r, s.hi * r}
	} else {
		pad := 0.05 * (s.hi - s.lo)
		if top := math.Max(math.Abs(s.lo), math.Abs(s.hi)); pad <= 1e-9*top {
			pad = 0.1 * top
		}
		if pad == 0 {
			pad = 1
		}
		s = span{s.lo - pad, s.hi + pad}
	}
	if a.Min != nil {
		s.lo = *a.Min
	}
	if a.Max != nil {
		s.hi = *a.Max
	}
	if s.lo >= s.hi { // a limit beyond all data
		if a.Max != nil {
			s.lo = s.hi - math.Max(1, math.Abs(s.hi))
		} else {
			s.hi = s.lo + math.Max(1, math.Abs(s.lo))
		}
		if a.Log && s.lo <= 0 {
			s.lo = s.hi / 10
		}
	}
	return s
}

// axes are gonum's axes in Lethe's style. Titles are drawn here, because gonum places them wrongly
// on logarithmic axes.
type axes struct {
	*plot.Plot
	x, y string
}

// newPlot returns axes with as many ticks as c has room for.
func newPlot(c draw.Canvas, x, y Axis, xs, ys span) axes {
	p := plot.New()
	p.BackgroundColor = nil
	size := c.Size()
	styleAxis(&p.X, x, xs, int(clamp(size.X/px(80), 2, 8)))
	styleAxis(&p.Y, y, ys, int(clamp(size.Y/px(52), 2, 8)))
	p.X.Tick.Label = smallPen().style(float64(draw.XCenter), float64(draw.YTop))
	p.Y.Tick.Label = smallPen().style(float64(draw.XRight), float64(draw.YCenter))
	return axes{p, x.Label, y.Label}
}

// inner returns the part of c without the titles of the axes.
func (p axes) inner(c draw.Canvas) draw.Canvas {
	var left, foot vg.Length
	if p.y != "" {
		left = labelPen().leading() + px(8)
	}
	if p.x != "" {
		foot = labelPen().leading() + px(2)
	}
	return draw.Crop(c, left, 0, foot, 0)
}

// DataCanvas returns the part of c that holds the data.
func (p axes) DataCanvas(c draw.Canvas) draw.Canvas { return p.Plot.DataCanvas(p.inner(c)) }

// Draw draws the axes, their titles and the data.
func (p axes) Draw(c draw.Canvas) {
	data := p.DataCanvas(c)
	labelPen().write(c, data.Center().X, c.Min.Y+px(3), 0.5, p.x)
	writeVertical(c, c.Min.X, data.Center().Y, p.y)
	p.Plot.Draw(p.inner(c))
}

// writeVertical writes the title of a vertical axis, its left side at x.
func writeVertical(c draw.Canvas, x, y vg.Length, s string) {
	if s == "" {
		return
	}
	sty := labelPen().style(float64(draw.XCenter), float64(draw.YTop))
	sty.Rotation = math.Pi / 2
	c.FillText(sty, vg.Point{X: x, Y: y}, s)
}

func styleAxis(a *plot.Axis, spec Axis, s span, ticks int) {
	a.Min, a.Max = s.lo, s.hi
	a.Padding = 0
	a.LineStyle = solid(inkSoft, 1)
	a.Tick.LineStyle = solid(inkSoft, 1)
	a.Tick.Length = px(5)
	a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return enoughTicks(lo, hi, ticks) })
	if spec.Whole {
		a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return wholeTicks(lo, hi, ticks) })
	}
	if spec.Log {
		a.Scale = plot.LogScale{}
		a.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return logTicks(lo, hi, min(ticks+2, 8)) })
	}
}

// enoughTicks returns about n ticks, and more if there would be fewer than two.
func enoughTicks(lo, hi float64, n int) []plot.Tick {
	out := linearTicks(lo, hi, n)
	for ; len(out) < 2 && n < 8; n++ {
		out = linearTicks(lo, hi, n+1)
	}
	return out
}

// wholeTicks returns about n whole numbers, or all of them if there are fewer.
func wholeTicks(lo, hi float64, n int) []plot.Tick {
	if hi-lo >= float64(n) {
		return linearTicks(lo, hi, n)
	}
	var out []plot.Tick
	for v := math.Ceil(lo); v <= hi; v++ {
		out = append(out, plot.Tick{Value: v, Label: formatTick(v, 0)})
	}
	return out
}

// linearTicks returns about n round numbers, all with the same number of digits.
func linearTicks(lo, hi float64, n int) []plot.Tick {
	step, digits := roundStep((hi - lo) / float64(n))
	var out []plot.Tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*step; k++ {
		v := k * step
		out = append(out, plot.Tick{Value: v, Label: formatTick(v, digits)})
	}
	return out
}

// roundStep returns the round number (1, 2 or 5 times a power of ten) next above raw, and the
// number of digits that its multiples need.
func roundStep(raw float64) (step float64, digits int) {
	power := math.Floor(math.Log10(raw))
	base := math.Pow(10, power)
	for _, f := range []float64{1, 2, 5, 10} {
		if step = f * base; step >= raw*(1-1e-9) {
			if f == 10 {
				power++
			}
			break
		}
	}
	return step, int(math.Max(0, -power))
}

// logTicks returns the powers of ten, about n of them with a label. If fewer than two powers are
// in range it returns 1-2-5 steps, and linear ticks if fewer than two of these are.
func logTicks(lo, hi float64, n int) []plot.Tick {
	first, last := math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	skip := math.Max(1, math.Ceil((last-first)/float64(n)))
	major, few := 0, math.Log10(hi/lo) < 1.5
	var out []plot.Tick
	for e := first; e <= last; e++ {
		for f := 1.0; f < 10; f++ {
			v := f * math.Pow(10, e)
			if v < lo*(1-1e-9) || v > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if f == 1 && math.Mod(e-first, skip) == 0 || few && (f == 1 || f == 2 || f == 5) {
				t.Label = formatLog(v, int(e))
				major++
			}
			out = append(out, t)
		}
	}
	if major < 2 { // one label does not show the scale
		return linearTicks(lo, hi, 4)
	}
	return out
}

func formatLog(v float64, exponent int) string {
	switch {
	case exponent < -4: // four digits hide the rounding of powers of ten
		return strconv.FormatFloat(v, 'g', 4, 64)
	case exponent > 5:
		return formatTick(v, 0)
	}
	return formatTick(v, max(0, -exponent))
}

// formatTick prints a number for an axis, with a typographic minus sign.
func formatTick(v float64, digits int) string {
	a := math.Abs(v)
	var s string
	switch {
	case digits > 6 || a >= 1e7 || a > 0 && a < 1e-5:
		s = strconv.FormatFloat(a, 'g', 4, 64)
	default:
		s = strconv.FormatFloat(a, 'f', digits, 64)
	}
	return formatSigned(v, s)
}

// formatSigned puts a minus sign before digits if v is negative and does not print as zero.
func formatSigned(v float64, digits string) string {
	if v < 0 && strings.ContainsAny(digits, "123456789") {
		return "\u2212" + digits
	}
	return digits
}

// layer is a part of a drawing in data coordinates.
type layer func(c draw.Canvas, x, y func(float64) vg.Length)

// Plot implements plot.Plotter.
func (l layer) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	l(c, x, y)
}

// grid draws thin lines at the labelled ticks.
type grid struct{ x, y bool }

// Plot implements plot.Plotter.
func (g grid) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if at := x(t.Value); g.x && !t.IsMinor() && c.ContainsX(at) {
			c.StrokeLine2(solid(gridLine, 1), at, c.Min.Y, at, c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if at := y(t.Value); g.y && !t.IsMinor() && c.ContainsY(at) {
			c.StrokeLine2(solid(gridLine, 1), c.Min.X, at, c.Max.X, at)
		}
	}
}

func clamp[T float64 | vg.Length](v, lo, hi T) T { return min(max(v, lo), hi) }
