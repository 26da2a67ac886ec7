// Strip plots: single points over seeds, per group and series.

package plot

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"

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
}

var _ Figure = Strips{}

// Render implements Figure.
func (s Strips) Render(w io.Writer, format string) error { return render(s, w, format) }

// PNG implements Figure.
func (s Strips) PNG() ([]byte, error) { return renderPNG(s) }

// Text implements Figure.
func (s Strips) Text() string { return asText(s) }

func (s Strips) check() error {
	var p problems
	p.refuse(len(s.Groups) == 0 || len(s.Series) == 0, noData)
	s.Y.check(&p, "y")
	s.Null.check(&p, "strips", s.Y.Log)
	n, points := len(s.GroupNulls), 0
	p.refuse(n != 0 && (n != len(s.Groups) || s.Null != nil), "%d null values for %d groups; give one per group and no other, or one for all", n, len(s.Groups))
	for g := range s.GroupNulls {
		s.GroupNulls[g].check(&p, fmt.Sprintf("null of group %d", g+1), s.Y.Log)
	}
	for _, r := range s.Series {
		points += s.checkSeries(&p, r)
	}
	p.refuse(points == 0, noData)
	return p.err
}

// checkSeries checks a series and returns its number of points.
func (s Strips) checkSeries(p *problems, r StripSeries) (points int) {
	p.refuse(len(r.Values) != len(s.Groups), "series %q has values for %d groups, there are %d", r.Name, len(r.Values), len(s.Groups))
	p.refuse(r.Paper != nil && len(r.Paper) != len(s.Groups), "series %q has paper values for %d groups, there are %d", r.Name, len(r.Paper), len(s.Groups))
	if p.err != nil {
		return 0
	}
	for g, vs := range r.Values {
		for i, v := range vs {
			p.value(v, s.Y.Log, "series %q, group %q, value %d", r.Name, s.Groups[g], i+1)
		}
		p.optional(r.paper(g), s.Y.Log, "series %q, group %q, paper value", r.Name, s.Groups[g])
		points += len(vs)
	}
	return points
}

// paper returns the printed value of a group, or nil.
func (r StripSeries) paper(g int) *float64 {
	if r.Paper == nil {
		return nil
	}
	return r.Paper[g]
}

func (s Strips) body(vg.Length) vg.Length { return s.height(390) }

// VegaLite implements Interactive: one symbol per value, over its box or under its mean with the
// interval; the tooltips have the numbers.
func (s Strips) VegaLite() ([]byte, error) { return vegaLite(s) }

// boxFrom is the number of points from which quartiles are drawn as a box.
const boxFrom = 5

func (s Strips) scene() scene {
	out := scene{x: scale{Axis: Axis{Label: s.X.Label}, span: span{0, float64(len(s.Groups))}}, y: scale{Axis: s.Y, grid: true}, sharesY: true,
		groups: s.Groups, lines: s.lines(), top: s.Y.Label,
		heads: []string{"median [quartiles], n"}, signs: []string{"box: quartiles, line: median, thin line: range, points: single values"}}
	if s.Summary == MeanInterval {
		out.heads, out.signs = []string{"mean [95 % interval], n"}, []string{"mean and 95 % interval, points: single values"}
	}
	for _, r := range s.Series {
		out.addSeries(r.Name, r.Control, r.Name)
	}
	sums, values, papers := s.tables()
	paper := paperMarks(papers, "group", "paper", tooltip("series", "series", "name", "group", "paper", "printed in the paper"))
	paper.radius = size{0.4, 3, 5}
	out.marks = slices.Concat(s.Null.marks("y"), s.groupNulls(), s.stripMarks(sums, values), []mark{paper})
	out.cover(&out.y)
	for _, d := range sums {
		for _, bound := range []string{"low", "high"} { // one that a log axis cannot show is drawn at its lower end
			if s.Y.Log && d.number(bound) <= 0 {
				d.row[bound] = out.y.lo
			}
		}
	}
	out.notes = []string{textLegend(s.Null != nil || len(s.GroupNulls) > 0, "\u2022 one point   \u25cf several   \u25c7 printed in the paper")}
	return out
}

// stripMarks returns the single values with their summaries.
func (s Strips) stripMarks(sums, values []datum) []mark {
	single := mark{kind: points, rows: values, table: "points", x: "group", y: "value", opacity: 0.85, radius: size{0.15, 1.4, 3.2}, area: 18,
		sign: '\u2022', tips: tooltip("series", "series", "name", "group", "value", cmp.Or(oneLine(s.Y.Label), "value"), "number", "number")}
	const table, x = "summaries", "group"
	if s.Summary == MeanInterval {
		single.opacity = 0.45
		tips := tooltip("series", "series", "name", "group", "n", "values", "mid", "mean", "interval", "95 % interval")
		return []mark{single,
			{kind: rules, rows: sums, table: table, x: x, y: "low", y2: "high", width: 1.8, tip: size{0.25, 0, 100}, tips: tips},
			{kind: points, rows: sums, table: table, x: x, y: "mid", radius: size{0.34, 0, 4.5}, area: 60, tips: tips}}
	}
	tips := tooltip("series", "series", "name", "group", "n", "values", "mid", "median", "interval", "quartiles")
	return []mark{
		{kind: rules, rows: sums, table: table, needs: "box", x: x, y: "min", y2: "max", width: 1, opacity: 0.6, tips: tips},
		{kind: bars, rows: sums, table: table, needs: "box", x: x, y: "low", y2: "high", opacity: 0.3, tips: tips},
		single,
		{kind: ticks, rows: sums, table: table, x: x, y: "mid", width: 2, tips: tips}}
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

// groupNulls returns each group's own null over the width of the group.
func (s Strips) groupNulls() []mark {
	var rows []datum
	for g := range s.GroupNulls {
		row := s.GroupNulls[g].row()
		row["group"] = g
		rows = append(rows, datum{row: row})
	}
	if rows == nil {
		return nil
	}
	return nullMarks("y", "group", rows...)
}

// null returns the null of a group.
func (s Strips) null(g int) *Null {
	if len(s.GroupNulls) > 0 {
		return &s.GroupNulls[g]
	}
	return s.Null
}

// lines returns the lines of the text: the series under the names of the groups, with the median or
// mean and its spread.
func (s Strips) lines() []line {
	var out []line
	for g, group := range s.Groups {
		out = append(out, line{heading: true, name: group})
		for _, r := range s.Series {
			out = append(out, line{name: r.Name, indent: true, null: s.null(g), cells: []string{s.numbers(r, g)}})
		}
	}
	return out
}

func (s Strips) numbers(r StripSeries, g int) string {
	vs, out := r.Values[g], "no points"
	if sum := s.summary(vs); sum.ok {
		out = fmt.Sprintf("%s, %d", formatInterval(sum.mid, sum.low, sum.high, 3), len(vs))
	} else if len(vs) > 0 {
		out = fmt.Sprintf("%s, %d", formatFixed(vs[0], 3), len(vs))
	}
	if v := r.paper(g); v != nil {
		out += ", paper " + formatFixed(*v, 3)
	}
	return out
}

// tables returns the rows of the summaries, of the single values and of the paper's values.
func (s Strips) tables() (sums, values, papers []datum) {
	for g := range s.Groups {
		for i, r := range s.Series {
			row := func(more object) datum {
				more["group"], more["lane"], more["series"], more["name"] = g, i, oneLine(r.Name), oneLine(s.Groups[g])
				return datum{series: i, row: more}
			}
			if v := r.paper(g); v != nil {
				papers = append(papers, row(object{"paper": *v}))
			}
			for k, value := range r.Values[g] {
				d := row(object{"value": value, "number": k + 1})
				if len(r.Values[g]) > 1 {
					d.shift = shift(k)
				}
				values = append(values, d)
			}
			if sum := s.summary(r.Values[g]); sum.ok {
				sums = append(sums, row(s.summaryRow(sum, len(r.Values[g]))))
			}
		}
	}
	return sums, values, papers
}

// shift spreads the points of a strip by the golden ratio: neighbours stay apart, and nothing is
// random.
func shift(k int) float64 {
	const golden = 0.6180339887498949
	return 0.56 * (math.Mod(0.5+float64(k)*golden, 1) - 0.5)
}

// summaryRow returns the numbers of a summary.
func (s Strips) summaryRow(sum summary, n int) object {
	row := object{"n": n, "mid": sum.mid, "low": sum.low, "high": sum.high, "interval": intervalWords(sum.low, sum.high, digitsFor(sum.mid))}
	if s.Summary == Box {
		row["min"], row["max"] = sum.min, sum.max
	}
	if s.Summary == Box && n >= boxFrom {
		row["box"] = true
	}
	return row
}
