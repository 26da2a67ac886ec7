// Strip plots: single points over seeds, per group and series.

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

// Summary is what is drawn behind the points of a strip.
type Summary int

// Box draws quartiles, median and range for five and more points, and the median for fewer.
// MeanInterval draws the mean with its 95 % t interval for two and more points.
const (
	Box Summary = iota
	MeanInterval
)

// StripSeries is one colour of a Strips figure.
type StripSeries struct {
	Name    string
	Values  [][]float64 // one slice per group, of any length; empty leaves a gap
	Control bool        // drawn in grey
	Paper   []*float64  // printed value per group, nil where the paper has none; may be nil
}

// Strips shows single points over seeds, for each group (data sets, methods, fractions) and series
// (methods, controls), with a summary behind them: RULER's Fig. 5 (right), 6 and 7. About ten
// groups of nine series are legible at the standard width; use Panels for more.
type Strips struct {
	Meta
	X, Y       Axis // X gives only the label
	Groups     []string
	Series     []StripSeries
	Summary    Summary
	Null       *Null
	GroupNulls []Null // one per group, instead of Null, if the null differs

	allSeries []seriesID // of the panels around it
}

var _ Figure = Strips{}

// Render implements Figure.
func (s Strips) Render(w io.Writer, format string) error { return render(s, w, format) }

// PNG implements Figure.
func (s Strips) PNG() ([]byte, error) { return renderPNG(s) }

// Text implements Figure.
func (s Strips) Text() string { return asText(s) }

func (s Strips) meta() Meta { return s.Meta }

func (s Strips) check() error {
	if len(s.Groups) == 0 || len(s.Series) == 0 {
		return errEmpty
	}
	if err := s.Y.check("y"); err != nil {
		return err
	}
	if err := s.Null.check("strips", s.Y.Log); err != nil {
		return err
	}
	if n := len(s.GroupNulls); n != 0 && (n != len(s.Groups) || s.Null != nil) {
		return fmt.Errorf("%d null values for %d groups; give one per group and no other, or one for all", n, len(s.Groups))
	}
	for g := range s.GroupNulls {
		if err := s.GroupNulls[g].check("group "+s.Groups[g], s.Y.Log); err != nil {
			return err
		}
	}
	points := 0
	for _, r := range s.Series {
		if err := s.checkSeries(r); err != nil {
			return err
		}
		for _, v := range r.Values {
			points += len(v)
		}
	}
	if points == 0 {
		return errEmpty
	}
	return nil
}

func (s Strips) checkSeries(r StripSeries) error {
	if len(r.Values) != len(s.Groups) {
		return fmt.Errorf("series %q has values for %d groups, there are %d", r.Name, len(r.Values), len(s.Groups))
	}
	if r.Paper != nil && len(r.Paper) != len(s.Groups) {
		return fmt.Errorf("series %q has paper values for %d groups, there are %d", r.Name, len(r.Paper), len(s.Groups))
	}
	for g, vs := range r.Values {
		where := fmt.Sprintf("series %q, group %q", r.Name, s.Groups[g])
		for i, v := range vs {
			if err := checkValues(fmt.Sprintf("%s, value %d", where, i+1), s.Y.Log, v); err != nil {
				return err
			}
		}
		if r.Paper != nil && r.Paper[g] != nil {
			if err := checkValues(where+", paper value", s.Y.Log, *r.Paper[g]); err != nil {
				return err
			}
		}
	}
	return nil
}

// values returns the range of everything that is drawn.
func (s Strips) values() span {
	all := newSpan()
	all.addNull(s.Null)
	for g := range s.GroupNulls {
		all.addNull(&s.GroupNulls[g])
	}
	for _, r := range s.Series {
		for g, vs := range r.Values {
			all.add(vs...)
			if sum := s.summary(vs); s.Summary == MeanInterval && sum.ok {
				s.addInterval(&all, sum)
			}
			if r.Paper != nil && r.Paper[g] != nil {
				all.add(*r.Paper[g])
			}
		}
	}
	return all
}

// addInterval widens the range by an interval. A bound that a log axis cannot show is left out;
// the drawing clips it.
func (s Strips) addInterval(all *span, sum summary) {
	for _, v := range []float64{sum.low, sum.high} {
		if !s.Y.Log || v > 0 {
			all.add(v)
		}
	}
}

func (s Strips) limitY(lo, hi float64) drawing { s.Y.Min, s.Y.Max = &lo, &hi; return s }
func (s Strips) rangeY() span                  { return s.values().fit(s.Y) }

func (s Strips) seriesIDs() []seriesID {
	out := make([]seriesID, len(s.Series))
	for i, r := range s.Series {
		out[i] = seriesID{r.Name, r.Control}
	}
	return out
}

func (s Strips) withAllSeries(allSeries []seriesID) drawing { s.allSeries = allSeries; return s }
func (s Strips) styles() []seriesStyle                      { return stylesAmong(s.seriesIDs(), s.allSeries) }

func (s Strips) legend() []entry {
	ls := s.styles()
	var out []entry
	paper := false
	for i, r := range s.Series {
		out = append(out, s.seriesEntry(r.Name, ls[i]))
		for _, v := range r.Paper {
			paper = paper || v != nil
		}
	}
	if len(s.GroupNulls) > 0 {
		out = append(out, s.GroupNulls[0].entries(false)...)
	}
	out = append(out, s.Null.entries(false)...)
	if paper {
		out = append(out, paperEntry())
	}
	return out
}

func (s Strips) seriesEntry(name string, l seriesStyle) entry {
	return entry{label: name, styleKey: l.marker(), sample: func(c draw.Canvas) {
		fillRect(c, alpha(l.col, 0.22), c.Center().X-px(8), c.Min.Y, c.Center().X+px(8), c.Max.Y)
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: l.col, Radius: px(3.2), Shape: l.shape}, c.Center())
	}}
}

func paperEntry() entry {
	return entry{label: "printed in the paper", styleKey: "paper", sample: func(c draw.Canvas) { paperMark(c, c.Center(), px(5)) }}
}

// groupLabels returns the names of the groups, wrapped to their width, and the largest pen with
// which no word is broken.
func (s Strips) groupLabels(width vg.Length) ([][]string, pen) {
	room := width/vg.Length(len(s.Groups)) - px(6)
	p := smallPen()
	for _, size := range []float64{10.5, 9.5, 8.5} {
		if s.widestWord(p) > room {
			p = newPen(size, false, ink)
		}
	}
	out := make([][]string, len(s.Groups))
	for g, name := range s.Groups {
		out[g] = wrap(p, name, room)
	}
	return out, p
}

func (s Strips) widestWord(p pen) vg.Length {
	var w vg.Length
	for _, word := range strings.Fields(strings.Join(s.Groups, " ")) {
		w = max(w, p.width(word))
	}
	return w
}

func (s Strips) body(vg.Length) vg.Length { return s.height(390) }

func (s Strips) draw(c draw.Canvas) {
	p := newPlot(c, Axis{}, s.Y, span{0, float64(len(s.Groups))}, s.rangeY())
	p.HideX()
	p.X.Width = 0
	data := p.DataCanvas(c)
	labels, names := s.groupLabels(data.Max.X - data.Min.X)
	deep := 0
	for _, l := range labels {
		deep = max(deep, len(l))
	}
	foot := vg.Length(deep)*names.leading() + px(6)
	if s.X.Label != "" {
		foot += labelPen().leading() + px(2)
	}
	p.Add(layer(func(c draw.Canvas, x, y func(float64) vg.Length) {
		for g := range s.Groups {
			if g%2 == 1 {
				fillRect(c, shade, x(float64(g)), c.Min.Y, x(float64(g+1)), c.Max.Y)
			}
		}
	}), grid{y: true}, layer(s.drawData), layer(func(c draw.Canvas, x, _ func(float64) vg.Length) {
		c.StrokeLine2(solid(inkSoft, 1), c.Min.X, c.Min.Y, c.Max.X, c.Min.Y)
		for g, lines := range labels {
			at := c.Min.Y - px(4)
			for _, l := range lines {
				at -= names.leading()
				names.write(c, x(float64(g)+0.5), at+px(3), 0.5, l)
			}
		}
		labelPen().write(c, c.Center().X, c.Min.Y-foot+px(3), 0.5, s.X.Label)
	}))
	p.Draw(draw.Crop(c, 0, 0, foot, 0))
}

func (s Strips) drawData(c draw.Canvas, x, y func(float64) vg.Length) {
	drawNullHorizontal(c, s.Null, y, c.Min.X, c.Max.X)
	for g := range s.GroupNulls {
		drawNullHorizontal(c, &s.GroupNulls[g], y, x(float64(g)), x(float64(g+1)))
	}
	ls := s.styles()
	slot := x(1) - x(0)
	lane := slot * 0.9 / vg.Length(len(s.Series))
	lane = min(lane, px(46))
	for g := range s.Groups {
		left := x(float64(g)+0.5) - lane*vg.Length(len(s.Series))/2
		for i, r := range s.Series {
			l := strip{c: c, y: y, x: left + lane*(vg.Length(i)+0.5), lane: lane, style: ls[i]}
			l.draw(r.Values[g], s.summary(r.Values[g]), s.Summary)
			if r.Paper != nil && r.Paper[g] != nil {
				l.drawPaper(*r.Paper[g])
			}
		}
	}
}

// summary holds the numbers drawn behind the points of one strip.
type summary struct {
	ok                       bool
	mid, low, high, min, max float64
}

func (s Strips) summary(vs []float64) summary {
	if s.Summary == MeanInterval {
		e := stats.MeanInterval(vs, 0.95, "seeds")
		return summary{ok: len(vs) >= 2, mid: e.Value, low: e.Low, high: e.High}
	}
	q := func(p float64) float64 {
		v, err := stats.Quantile(vs, p)
		if err != nil {
			return math.NaN()
		}
		return v
	}
	return summary{ok: len(vs) > 0, mid: q(0.5), low: q(0.25), high: q(0.75), min: q(0), max: q(1)}
}

// strip draws the points of one series in one group.
type strip struct {
	c       draw.Canvas
	y       func(float64) vg.Length
	x, lane vg.Length
	style   seriesStyle
}
