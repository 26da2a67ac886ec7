// A figure as a list of marks on two scales.

package plot

import (
	"cmp"
	"image"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// scene is a figure as a list of marks. Three renderers read it and nothing else: PNG and SVG,
// Vega-Lite, and text. A scale has values, or names: series of groups side by side along x, or
// lines below each other along y.
type scene struct {
	x, y   scale
	series []series
	ids    []seriesID // of the series, if panels with the same ones show them alike
	marks  []mark     // from the lowest to the highest
	groups []string   // names along x; in each group a lane per series
	lines  []line     // lines of a text; if y has names, these are the names
	heads  []string   // over the cells of the lines
	top    string     // over a text drawing with lines
	notes  []string   // under a text drawing
	signs  []string   // in Vega-Lite, what the symbols of the series mean

	sharesY bool              // panels may have one y axis for all
	entries []entry           // of the legend, after those of series and marks
	custom  func(draw.Canvas) // draws what is not made of marks
	plain   []string          // lines of a text that is no drawing
	heading string            // the title in a panel, if it is not the figure's
}

// scale is an axis with the range that is drawn.
type scale struct {
	Axis
	span
	grid bool
}

// series is a name with the style of its marks.
type series struct {
	name string
	seriesStyle
}

// line is a line of names: a heading, or a name with a ruler and cells of text.
type line struct {
	heading bool
	name    string
	indent  bool
	control bool // in grey
	faint   bool // its cells in grey
	null    *Null
	cells   []string
}

// kind says how a mark is drawn. Ends are the values of the columns x, y, x2 and y2. A mark
// without a column x goes over the whole width, and without a column y over the whole height.
type kind string

const (
	areas    kind = "area"  // between y and y2, along the rows of a series
	paths    kind = "line"  // along the rows of a series
	rules    kind = "rule"  // straight, from end to end
	bars     kind = "bar"   // rectangles from end to end
	ticks    kind = "tick"  // across a lane
	points   kind = "point" // a symbol on each row
	diamonds kind = "paper" // hollow: values printed in a paper
	words    kind = "text"  // the column text, above the drawing

	// Only figures without a VegaLite method have these.
	steps   kind = "steps"   // filled staircases of a histogram
	pieces  kind = "pieces"  // rules drawn as one path
	picture kind = "picture" // colours over the whole drawing
)

// mark is one mark per row, or per series, of a table.
type mark struct {
	kind         kind
	rows         []datum
	table        string // the name of rows that several marks share
	x, y, x2, y2 string // columns of the ends
	needs        string // rows without this column have no mark
	text         string // the column of words
	tips         list   // tooltips
	means        string // its label in the legend, if it has a colour of its own

	col     color.NRGBA // instead of the colours of the series
	opacity float64     // 0 means 1
	width   float64     // of lines, in CSS pixels
	dashes  []vg.Length
	radius  size
	area    float64          // of points in Vega-Lite, square pixels
	tip     size             // half the length of the line across the ends of rules
	shape   draw.GlyphDrawer // instead of those of the series; smaller in a panel
	sign    rune             // in a text; 0: not there
	whole   bool             // not cut at the edge by Vega-Lite

	paint  func(w, h int) image.Image // the picture of w x h pixels
	letter func(x, y float64) rune    // the picture as text
}

// datum is a row of a table: numbers and texts by column, as Vega-Lite gets them.
type datum struct {
	series int
	row    object
	sign   rune    // in a text, instead of the mark's
	shift  float64 // from the middle of a lane, in lanes
}

// number returns the value of a column, or NaN.
func (d datum) number(column string) float64 {
	switch v := d.row[column].(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return math.NaN()
}

// data returns the rows that have a mark.
func (m mark) data() []datum {
	if m.needs == "" {
		return m.rows
	}
	return slices.DeleteFunc(slices.Clone(m.rows), func(d datum) bool { return d.row[m.needs] == nil })
}

// hasColour reports whether the mark has a colour of its own.
func (m mark) hasColour() bool { return m.col.A != 0 }

// wide reports whether a mark is as wide as its group, not its lane.
func (m mark) wide() bool { return m.hasColour() && (m.kind == rules || m.kind == bars) }

// strength returns the opacity.
func (m mark) strength() float64 { return cmp.Or(m.opacity, 1) }

// bySeries calls f with each run of rows of one series.
func (m mark) bySeries(f func(series int, rows []datum)) {
	rows := m.data()
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].series == rows[0].series {
			n++
		}
		f(rows[0].series, rows[:n])
		rows = rows[n:]
	}
}

// size is a length in CSS pixels, or a share of a lane within limits.
type size struct{ share, least, most float64 }

// length returns the size for a lane.
func (s size) length(lane vg.Length) vg.Length {
	if s.share == 0 {
		return px(s.most)
	}
	return clamp(lane*vg.Length(s.share), px(s.least), px(s.most))
}

// named reports whether y has names.
func (s scene) named() bool { return s.groups == nil && s.lines != nil }

// addSeries adds a series with its label in the legend. Its style is the next one.
func (s *scene) addSeries(name string, control bool, label string) {
	s.ids = append(s.ids, seriesID{name, control})
	s.series = append(s.series, series{label, seriesStyles(s.ids)[len(s.ids)-1]})
}

// cover sets the ranges of scales to the ends of all marks.
func (s *scene) cover(scales ...*scale) {
	for _, sc := range scales {
		sc.span = newSpan()
		for _, m := range s.marks {
			from, to := m.x, m.x2
			if sc == &s.y {
				from, to = m.y, m.y2
			}
			for _, d := range m.data() {
				sc.addShown(d.number(from), d.number(to))
			}
		}
		sc.span = sc.fit(sc.Axis)
	}
}

// addShown widens the range by values that the scale can show.
func (s *scale) addShown(vs ...float64) {
	for _, v := range vs {
		if !math.IsNaN(v) && (!s.Log || v > 0) {
			s.add(v)
		}
	}
}

// restyle gives the series the styles that they have among all series of a grid of panels, so that
// a series looks the same in every panel and no other series looks like it.
func (s scene) restyle(all []seriesID) scene {
	styles := seriesStyles(all)
	s.series = slices.Clone(s.series)
	for i, id := range s.ids {
		s.series[i].seriesStyle = styles[slices.Index(all, id)]
	}
	return s
}

func (s scene) styles() []seriesStyle {
	out := make([]seriesStyle, len(s.series))
	for i, r := range s.series {
		out[i] = r.seriesStyle
	}
	return out
}

// marks returns the band and the line of a null along the scale "x" or "y".
func (n *Null) marks(channel string) []mark {
	if n == nil {
		return nil
	}
	return nullMarks(channel, "", datum{row: n.row()})
}

// row returns the numbers of the null and what they are.
func (n *Null) row() object {
	row := object{"null": n.Value, "what": cmp.Or(n.Label, "null")}
	if n.Low != nil {
		row["low"], row["high"], row["band"] = *n.Low, *n.High, cmp.Or(n.BandLabel, "chance band")
	}
	return row
}

// nullMarks returns the bands and lines of nulls, over the whole of the other scale or over groups.
func nullMarks(channel, group string, rows ...datum) []mark {
	first := rows[0].row
	what, _ := first["what"].(string)
	within, _ := first["band"].(string)
	band := mark{kind: bars, rows: rows, needs: "low", col: bandFill, means: within,
		tips: tooltip("band", "band", "low", "from", "high", "to")}
	rule := mark{kind: rules, rows: rows, means: what, col: nullLine, width: 1.3, dashes: nullDashes, sign: '\u2504',
		tips: tooltip("what", "line", "null", "value")}
	if channel == "x" {
		band.x, band.x2, rule.x = "low", "high", "null"
		return []mark{band, rule}
	}
	band.x, band.y, band.y2, rule.x, rule.y = group, "low", "high", group, "null"
	return []mark{band, rule}
}

// paperMarks returns the diamonds of values printed in a paper.
func paperMarks(rows []datum, x, y string, tips list) mark {
	return mark{kind: diamonds, rows: rows, x: x, y: y, tips: tips, col: paperInk, means: "printed in the paper",
		radius: size{most: 5.2}, sign: '\u25c7'}
}

// explained returns the marks that have a label in the legend: lines, bands, papers.
func (s scene) explained() []mark {
	var out []mark
	for _, kinds := range [][]kind{{rules, paths, pieces}, {bars, areas}, {diamonds}} {
		for _, m := range s.marks {
			if slices.Contains(kinds, m.kind) && m.means != "" && len(m.rows) > 0 {
				out = append(out, m)
			}
		}
	}
	return out
}

// has reports whether the series has marks of the kind.
func (s scene) has(k kind, series int) bool {
	return slices.ContainsFunc(s.marks, func(m mark) bool {
		return m.kind == k && !m.hasColour() && slices.ContainsFunc(m.data(), func(d datum) bool { return d.series == series })
	})
}
