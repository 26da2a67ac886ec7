package plot

import (
	"cmp"
	"fmt"
)

// VegaLite implements Interactive: one symbol per value, over its box or under its mean with the
// interval; the tooltips have the numbers.
func (s Strips) VegaLite() ([]byte, error) {
	rows := 0
	for _, r := range s.Series {
		for _, vs := range r.Values {
			rows += len(vs)
		}
	}
	return encodeVega(s, rows, func() object {
		names := make([]string, len(s.Series))
		paper := false
		for i, r := range s.Series {
			names[i] = oneLine(r.Name)
			for _, v := range r.Paper {
				paper = paper || v != nil
			}
		}
		null := s.Null
		if len(s.GroupNulls) > 0 {
			null = &s.GroupNulls[0]
		}
		signs := nullSigns(null)
		if paper {
			signs = append(signs, paperSign)
		}
		v := vegaStrips{s: s, names: names}
		sums, points, printed := v.tables()
		spec := vegaSpec(s, append([]string{v.pointsText()}, signs...), v.layers(printed))
		spec["datasets"] = object{sumTable: sums, pointTable: points}
		return spec
	})
}

// vegaStrips builds the layers of a Strips figure.
type vegaStrips struct {
	s     Strips
	names []string
}

func (v vegaStrips) pointsText() string {
	if v.s.Summary == MeanInterval {
		return "mean and 95 % interval, points: single values"
	}
	return "box: quartiles, line: median, thin line: range, points: single values"
}

// The shapes of series in Vega's notation, in the order of methodShapes and
// controlShapes.
var (
	vegaShapes = []string{"circle", "square", "triangle-up", "diamond", "M-.45,-1.3L.45,-1.3L.45,1.3L-.45,1.3Z", "M-1,-1L1,-1L-1,1L1,1Z",
		leftTriangle.vegaPath(), rightTriangle.vegaPath(), flatBar.vegaPath(), bowTie.vegaPath(), house.vegaPath(), chevron.vegaPath()}
	vegaControlShapes = []string{"M-1,-.7L-.7,-1L0,-.3L.7,-1L1,-.7L.3,0L1,.7L.7,1L0,.3L-.7,1L-1,.7L-.3,0Z", "cross", "triangle-down",
		"M0,-1L.2,-.5L.7,-.7L.5,-.2L1,0L.5,.2L.7,.7L.2,.5L0,1L-.2,.5L-.7,.7L-.5,.2L-1,0L-.5,-.2L-.7,-.7L-.2,-.5Z"}
)

// shape returns the shape of series i, assigned as in seriesStyles.
func (v vegaStrips) shape(i int) any {
	before := 0
	for k := range i {
		if v.s.Series[k].Control == v.s.Series[i].Control {
			before++
		}
	}
	if v.s.Series[i].Control {
		return vegaControlShapes[(before+before/len(greys))%len(vegaControlShapes)]
	}
	return vegaShapes[(before+before/len(palette))%len(vegaShapes)]
}

// group returns the channel of the groups. Groups are numbers with names as labels, because names
// may be equal.
func (v vegaStrips) group() object {
	var domain, names list
	labels, p := v.s.groupLabels(px(float64(vegaWidth(v.s) - vegaMargin)))
	for g, lines := range labels {
		for i, l := range lines {
			lines[i] = oneLine(l)
		}
		domain, names = append(domain, g), append(names, lines)
	}
	title := any(oneLine(v.s.X.Label))
	if v.s.X.Label == "" {
		title = nil
	}
	return object{
		"field": "group", "type": "ordinal",
		"scale": object{"domain": domain, "paddingInner": 0.1, "paddingOuter": 0.05},
		"axis": object{"title": title, "labelAngle": 0, "labelFontSize": float64(p.font.Size / px(1)),
			"labelExpr": jsonText(names) + "[datum.value]", "ticks": false},
	}
}

// lane returns the channel of the series inside a group.
func (v vegaStrips) lane() object {
	var domain list
	for i := range v.s.Series {
		domain = append(domain, i)
	}
	return object{"field": "lane", "type": "ordinal", "scale": object{"domain": domain}}
}

// sumTable is the name of the table of summaries.
const sumTable = "summaries"

func (v vegaStrips) layers(paper list) list {
	legend := object{"columns": vegaColumns(vegaWidth(v.s), v.names)}
	colour := seriesColour(v.names, v.s.styles(), legend)
	shape := seriesChannel(v.names, v.shape, legend)
	group, lane := v.group(), v.lane()
	y := vegaAxis(v.s.Y, v.s.rangeY(), true)

	layers := append(vegaNull(v.s.Null, "y"), v.groupNulls(group, y)...)
	part := func(table string, mark, enc object) {
		enc["x"], enc["xOffset"], enc["color"] = group, lane, colour
		layers = append(layers, object{"data": object{"name": table}, "mark": mark, "encoding": enc})
	}
	boxes := func(mark, enc object) {
		part(sumTable, mark, enc)
		layers[len(layers)-1].(object)["transform"] = list{object{"filter": fmt.Sprintf("datum.n >= %d", boxFrom)}}
	}
	tips := tooltip("series", "series", "name", "group", "n", "values", "mid", v.middle(), "interval", v.spread())
	pointLayer := func(opacity float64) {
		part(pointTable, object{"type": "point", "filled": true, "size": 18, "opacity": opacity, "clip": true},
			object{"y": field("value", y), "shape": shape, "tooltip": tooltip("series", "series", "name", "group", "value",
				cmp.Or(oneLine(v.s.Y.Label), "value"), "number", "number")})
	}
	if v.s.Summary == MeanInterval {
		pointLayer(0.45)
		part(sumTable, object{"type": "rule", "strokeWidth": 1.8, "clip": true}, object{"y": field("low", y), "y2": object{"field": "high"}, "tooltip": tips})
		part(sumTable, object{"type": "point", "filled": true, "size": 60, "opacity": 1, "clip": true},
			object{"y": field("mid", y), "shape": shape, "tooltip": tips})
	} else {
		boxes(object{"type": "rule", "strokeWidth": 1, "opacity": 0.6, "clip": true},
			object{"y": field("min", y), "y2": object{"field": "max"}, "tooltip": tips})
		boxes(object{"type": "bar", "opacity": 0.3, "clip": true}, object{"y": field("low", y), "y2": object{"field": "high"}, "tooltip": tips})
		pointLayer(0.85)
		part(sumTable, object{"type": "tick", "thickness": 2, "clip": true, "bandSize": 12}, object{"y": field("mid", y), "tooltip": tips})
	}
	return append(layers, vegaPaper(paper, group, field("paper", y), object{"xOffset": lane},
		tooltip("series", "series", "name", "group", "paper", "printed in the paper"))...)
}

func (v vegaStrips) middle() string {
	if v.s.Summary == MeanInterval {
		return "mean"
	}
	return "median"
}

func (v vegaStrips) spread() string {
	if v.s.Summary == MeanInterval {
		return "95 % interval"
	}
	return "quartiles"
}

// tables returns the rows of the summaries, of the single values and of the paper's values.
func (v vegaStrips) tables() (sums, points, paper list) {
	for i, r := range v.s.Series {
		for g, vs := range r.Values {
			row := func() object {
				return object{"group": g, "lane": i, "series": v.names[i], "name": oneLine(v.s.Groups[g])}
			}
			if r.Paper != nil && r.Paper[g] != nil {
				p := row()
				p["paper"] = *r.Paper[g]
				paper = append(paper, p)
			}
			for k, value := range vs {
				p := row()
				p["value"], p["number"] = value, k+1
				points = append(points, p)
			}
			if sum := v.s.summary(vs); sum.ok {
				sums = append(sums, v.summaryRow(row(), sum, len(vs)))
			}
		}
	}
	return sums, points, paper
}

// summaryRow adds the numbers of a summary. A bound that a log axis cannot show is drawn at its
// lower end; the text has the number itself.
func (v vegaStrips) summaryRow(row object, sum summary, n int) object {
	low := v.s.rangeY().lo
	seen := func(x float64) float64 {
		if v.s.Y.Log && x <= 0 {
			return low
		}
		return x
	}
	row["n"], row["mid"], row["low"], row["high"] = n, sum.mid, seen(sum.low), seen(sum.high)
	row["interval"] = intervalWords(sum.low, sum.high, digitsFor(sum.mid))
	if v.s.Summary == Box {
		row["min"], row["max"] = sum.min, sum.max
	}
	return row
}

// groupNulls draws each group's own null over the width of the group.
func (v vegaStrips) groupNulls(group, y object) list {
	var bands, nulls list
	for g := range v.s.GroupNulls {
		n := &v.s.GroupNulls[g]
		row := object{"group": g, "null": n.Value, "what": cmp.Or(n.Label, "null")}
		if n.Low != nil {
			row["low"], row["high"] = *n.Low, *n.High
			bands = append(bands, row)
		}
		nulls = append(nulls, row)
	}
	if nulls == nil {
		return nil
	}
	left := object{"bandPosition": 0}
	for k, o := range group {
		left[k] = o
	}
	right := object{"field": "group", "bandPosition": 1}
	tips := tooltip("what", "null", "null", "value", "low", "band from", "high", "band to")
	return list{
		object{"data": data(bands), "mark": vegaBand(), "encoding": object{"x": left, "x2": right, "y": field("low", y),
			"y2": object{"field": "high"}, "tooltip": tips}},
		object{"data": data(nulls), "mark": vegaNullLine(), "encoding": object{"x": left, "x2": right, "y": field("null", y), "tooltip": tips}},
	}
}
