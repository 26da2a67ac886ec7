package plot

import (
	"encoding/json"
	"strings"
)

// VegaLite implements Interactive: the rows of the picture with their numbers beside them;
// tooltips have the interval's level and unit.
func (f Forest) VegaLite() ([]byte, error) {
	return encodeVega(f, len(f.Rows), func() object {
		lines := f.lines()
		t := f.columns()
		x := vegaAxis(f.X, f.rangeX(), true)
		y := f.vegaRows(lines)
		rows, papers, words := f.vegaTables(lines, t)
		colour := object{"condition": object{"test": "datum.control", "value": hex(greys[0])}, "value": hex(palette[0])}
		tips := tooltip("label", "row", "group", "group", "estimate", "estimate", "interval", "interval", "level", "interval of", "p", "p", "paper",
			"printed in the paper")

		layers := vegaNull(f.Null, "x")
		layers = append(layers,
			object{
				"data": data(rows), "transform": list{object{"filter": "isValid(datum.low)"}},
				"mark":     object{"type": "rule", "strokeWidth": 1.8, "clip": true},
				"encoding": object{"y": y, "x": field("low", x), "x2": object{"field": "high"}, "color": colour, "tooltip": tips},
			},
			object{
				"data": data(rows),
				"mark": object{"type": "point", "filled": true, "size": 65, "opacity": 1, "clip": true},
				"encoding": object{"y": y, "x": field("estimate", x), "color": colour, "tooltip": tips,
					"shape": object{"condition": object{"test": "datum.control", "value": "square"}, "value": "circle"}},
			})
		layers = append(layers, vegaPaper(papers, field("paper", x), y, nil, tips)...)
		width := f.vegaInner(lines, t)
		layers = append(layers, f.vegaNumbers(words, y, t, width)...)

		signs := nullSigns(f.Null)
		if len(papers) > 0 {
			signs = append(signs, paperSign)
		}
		if i := f.firstIndex(func(r ForestRow) bool { return !r.Control && r.Missing == "" }); i >= 0 {
			signs = append([]string{"circle: estimate" + f.Rows[i].intervalName()}, signs...)
		}
		if f.firstIndex(func(r ForestRow) bool { return r.Control && r.Missing == "" }) >= 0 {
			signs = append(signs, "grey square: control")
		}
		spec := vegaSpec(f, signs, layers)
		spec["width"], spec["height"] = width, forestRow*len(lines)
		return spec
	})
}

// vegaInner returns the width without labels and numbers.
func (f Forest) vegaInner(all []forestLine, t columns) int {
	label := 0
	for _, l := range all {
		label = max(label, roundPixels(f.labelWidth(l)))
	}
	return max(160, vegaWidth(f)-min(label, 240)-roundPixels(t.width())-50)
}

// vegaRows returns the channel of the rows. Rows are numbers with names as labels, because two
// rows may have the same name, and groups are rows too.
func (f Forest) vegaRows(all []forestLine) object {
	var domain, names, heads list
	for i, l := range all {
		domain = append(domain, i)
		if l.row == nil {
			names, heads = append(names, oneLine(l.group)), append(heads, i)
			continue
		}
		names = append(names, oneLine(l.row.Label))
	}
	if heads == nil {
		heads = list{-1}
	}
	return object{
		"field": "row", "type": "ordinal", "scale": object{"domain": domain},
		"axis": object{
			"title": nil, "ticks": false, "domain": false, "labelExpr": jsonText(names) + "[datum.value]",
			"labelFontWeight": object{"condition": object{"test": "indexof(" + jsonText(heads) + ", datum.value) >= 0", "value": "bold"}, "value": "normal"},
		},
	}
}

// jsonText returns a list as JSON, which is also a list in Vega's expressions.
func jsonText(l list) string {
	b, err := json.Marshal(l)
	if err != nil {
		return "[]"
	}
	return string(b)
}

// vegaTables returns the estimates, the paper's values, and the printed numbers.
func (f Forest) vegaTables(all []forestLine, t columns) (rows, papers, words list) {
	for i, l := range all {
		if l.row == nil {
			continue
		}
		r := *l.row
		cells := t.cellTexts(r)
		row := object{"row": i, "label": oneLine(r.Label), "group": oneLine(r.Group), "control": r.Control}
		words = append(words, object{"row": i, "w0": oneLine(cells[0]), "w1": cells[1], "w2": cells[2]})
		if r.P != nil {
			row["p"] = *r.P
		}
		if r.Paper != nil {
			row["paper"] = *r.Paper
			papers = append(papers, row)
		}
		if r.Missing != "" {
			continue
		}
		row["estimate"] = r.Estimate.Value
		if r.hasInterval() {
			row["low"], row["high"] = r.Estimate.Low, r.Estimate.High
			row["interval"] = intervalWords(r.Estimate.Low, r.Estimate.High, t.digits)
			row["level"] = strings.TrimPrefix(r.intervalName(), " and ")
		}
		rows = append(rows, row)
	}
	return rows, papers, words
}

// vegaNumbers returns the columns at the right of the drawing.
func (f Forest) vegaNumbers(words list, y object, t columns, width int) list {
	var out list
	end := width + 14
	for j, w := range t.widths {
		if w == 0 {
			continue
		}
		end += roundPixels(w)
		mark := object{"type": "text", "align": "right", "fontSize": 11.5, "color": hex(ink)}
		out = append(out,
			object{"data": data(words), "mark": mark, "encoding": object{"y": y, "x": object{"value": end},
				"text": object{"field": []string{"w0", "w1", "w2"}[j]}}},
			object{
				"data":     data(list{object{"head": columnHeads[j]}}),
				"mark":     object{"type": "text", "align": "right", "fontSize": 12.5, "fontWeight": "bold", "color": hex(ink)},
				"encoding": object{"x": object{"value": end}, "y": object{"value": -9}, "text": object{"field": "head"}},
			})
		end += columnGap
	}
	return out
}
