package plot

import (
	"cmp"
	"slices"
)

// VegaLite implements Interactive: pointing at a curve shows the value and draws its interval;
// clicking a name in the legend highlights that curve.
func (f Curves) VegaLite() ([]byte, error) {
	rows := 0
	for _, s := range f.Curves {
		rows += len(s.X)
	}
	return encodeVega(f, rows, func() object {
		xs, ys := f.spans()
		names := make([]string, len(f.Curves))
		for i, s := range f.Curves {
			names[i] = oneLine(s.Name)
		}
		v := vegaLines{
			x: vegaAxis(f.X, xs, false), y: vegaAxis(f.Y, ys, true),
			names: names, styles: f.styles(), width: vegaWidth(f),
			xName: cmp.Or(oneLine(f.X.Label), "x"), yName: cmp.Or(oneLine(f.Y.Label), "y"),
		}
		v.tips = tooltip("series", "curve", "x", v.xName, "y", v.yName, "interval", "interval")
		signs := nullSigns(f.Null)
		if len(f.Paper) > 0 {
			signs = append(signs, paperSign)
		}
		layers := append(vegaNull(f.Null, "y"), v.layers(f.banded())...)
		layers = append(layers, f.vegaMarks()...)
		spec := vegaSpec(f, signs, append(layers, v.paper(f.Paper)...))
		spec["datasets"] = object{pointTable: f.rows(names)}
		return spec
	})
}

// banded reports whether any curve has a band.
func (f Curves) banded() bool {
	return slices.ContainsFunc(f.Curves, func(s Curve) bool { return len(s.Low) > 0 })
}

// rows returns the points of all curves.
func (f Curves) rows(names []string) list {
	var out list
	for k, s := range f.Curves {
		for i := range s.X {
			row := object{"series": names[k], "i": i, "x": s.X[i], "y": s.Y[i]}
			if len(s.X) == 1 {
				row["alone"] = true // a single point has no line
			}
			if len(s.Low) > 0 {
				row["low"], row["high"] = s.Low[i], s.High[i]
				row["interval"] = intervalWords(s.Low[i], s.High[i], digitsFor(s.Y[i]))
			}
			out = append(out, row)
		}
	}
	return out
}

// vegaMarks returns the marks as vertical lines with their labels above the drawing.
func (f Curves) vegaMarks() list {
	if len(f.Marks) == 0 {
		return nil
	}
	var rows list
	for _, m := range f.Marks {
		rows = append(rows, object{"x": m.X, "label": oneLine(m.Label)})
	}
	return list{
		object{"data": data(rows), "mark": object{"type": "rule", "color": hex(inkSoft), "clip": true}, "encoding": object{"x": field("x")}},
		object{
			"data":     data(rows),
			"mark":     object{"type": "text", "baseline": "top", "align": "left", "dx": 4, "dy": 2, "fontSize": 11.5, "color": hex(ink)},
			"encoding": object{"x": field("x"), "y": object{"value": 0}, "text": object{"field": "label"}},
		},
	}
}

// vegaLines is what all figures of lines share.
type vegaLines struct {
	x, y         object // scales and axes
	names        []string
	styles       []seriesStyle
	width        int
	xName, yName string
	tips         list // the tooltip of a point
}

// emphasisIf returns an opacity for the curves selected in the legend, and a weaker one for the
// others.
func emphasisIf(param string, yes, no float64) object {
	return object{"condition": object{"param": param, "value": yes}, "value": no}
}

// pointTable is the name of the table that all layers of a figure of lines use.
const pointTable = "points"

// layers returns bands, lines, and points with intervals that appear when pointed at.
func (v vegaLines) layers(banded bool) list {
	table := object{"name": pointTable}
	legend := object{"columns": vegaColumns(v.width, v.names), "symbolType": "stroke", "symbolSize": 400, "symbolStrokeWidth": 2}
	colour := seriesColour(v.names, v.styles, legend)
	dash := seriesChannel(v.names, func(i int) any { return vegaDash(v.styles[i]) }, legend)
	x, y := field("x", v.x), field("y", v.y)
	order := object{"field": "i", "type": "quantitative"}
	withBand := list{object{"filter": "isValid(datum.low)"}}
	out := list{
		object{
			"data": table, "transform": withBand,
			"mark":     object{"type": "area", "clip": true},
			"encoding": object{"x": x, "y": field("low", v.y), "y2": object{"field": "high"}, "color": colour, "opacity": emphasisIf("pick", 0.18, 0.04)},
		},
		object{
			"data": table,
			"params": list{object{
				"name": "pick", "bind": "legend",
				"select": object{"type": "point", "fields": list{"series"}},
			}},
			"mark":     object{"type": "line", "strokeWidth": 2, "clip": true},
			"encoding": object{"x": x, "y": y, "color": colour, "strokeDash": dash, "order": order, "opacity": emphasisIf("pick", 1, 0.15)},
		},
		object{
			"data": table, "transform": withBand,
			"mark": object{"type": "rule", "strokeWidth": 1.8, "clip": true},
			"encoding": object{"x": x, "y": field("low", v.y), "y2": object{"field": "high"}, "color": colour,
				"opacity": object{"condition": object{"param": "point", "value": 1, "empty": false}, "value": 0}},
		},
		object{
			"data": table,
			"params": list{object{
				"name":   "point",
				"select": object{"type": "point", "on": "pointerover", "clear": "pointerout", "nearest": true, "encodings": list{"x", "y"}},
			}},
			"mark": object{"type": "point", "filled": true, "size": 60, "clip": true},
			"encoding": object{"x": x, "y": y, "color": colour,
				"opacity": object{"condition": list{
					object{"param": "point", "value": 1, "empty": false},
					object{"test": "datum.alone", "value": 1},
				}, "value": 0},
				"tooltip": v.tips},
		},
	}
	if !banded {
		return list{out[1], out[3]}
	}
	return out
}

// paper returns the hollow diamonds.
func (v vegaLines) paper(ps []PaperPoint) list {
	return vegaPaper(paperRows(ps), field("x", v.x), field("y", v.y), nil, tooltip("label", "paper", "x", v.xName, "y", v.yName))
}
