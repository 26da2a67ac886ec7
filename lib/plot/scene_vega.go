// Scenes as Vega-Lite specifications.

package plot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Interactive is a figure that a browser can also draw with Vega-Lite, with tooltips for its
// values: pointing at a curve shows a value and draws its interval, clicking a name in the legend
// highlights that curve. It accompanies the PNG and does not replace it, because a viewer without
// scripts shows nothing.
type Interactive interface {
	Figure
	// VegaLite returns the figure as a Vega-Lite 5 specification in JSON that
	// contains all its data.
	VegaLite() ([]byte, error)
}

var (
	_ Interactive = Curves{}
	_ Interactive = ROC{}
	_ Interactive = Strips{}
	_ Interactive = Forest{}
)

// vegaSchema identifies the language; nothing is fetched from this address. The demos were
// compiled with vega-lite 5.23.0, checked against its schema, and drawn with vega 5.33.1.
const vegaSchema = "https://vega.github.io/schema/vega-lite/v5.json"

// maxVega bounds the number of rows of a table in a specification, which a notebook stores as text.
const maxVega = 20_000

// object and list are JSON. Objects are written with sorted keys, so that the
// same figure gives the same bytes.
type (
	object = map[string]any
	list   = []any
)

// The margins for labels and titles at the left of a drawing and below it.
const vegaMargin, vegaFoot = 90, 40

// vegaLite checks the figure and writes the specification of its scene.
func vegaLite(f drawing) ([]byte, error) {
	if err := verify(f); err != nil {
		return nil, err
	}
	v := vega{scene: f.scene(), width: vegaWidth(f)}
	for _, m := range v.marks {
		if n := len(m.rows); n > maxVega {
			return nil, fmt.Errorf("figure %q has %d values; a Vega-Lite picture holds %d, show the PNG", f.meta().Title, n, maxVega)
		}
	}
	b, err := json.Marshal(v.spec(f))
	if err != nil {
		return nil, fmt.Errorf("figure %q: %w", f.meta().Title, err)
	}
	return b, nil
}

// vegaWidth returns the width of the whole figure in CSS pixels.
func vegaWidth(f drawing) int {
	standard := NotebookWidth
	if s, ok := f.(widther); ok {
		standard = min(standard, int(s.standardWidth()))
	}
	return roundPixels(f.meta().width(float64(standard)))
}

// vega is a scene in a figure of a width.
type vega struct {
	scene
	width int
}

// spec returns the specification: layers with title, caption, source and style.
func (v vega) spec(f drawing) object {
	m := f.meta()
	width, height := v.width-vegaMargin, roundPixels(f.body(px(float64(v.width))))-vegaFoot // of the drawing alone
	layers, tables := list{}, object{}
	for _, m := range v.marks {
		if len(m.data()) == 0 {
			continue
		}
		layers = append(layers, v.layers(m)...)
		if m.table != "" {
			tables[m.table] = table(m.rows)
		}
	}
	if v.named() {
		width, height = v.innerWidth(), lineHeight*len(v.lines)
		layers = append(layers, v.cells(width)...)
	}
	var under []string
	for _, s := range []string{v.meanings(), m.Caption, m.Source} {
		under = append(under, wrap(notePen(), oneLine(s), px(float64(v.width))-2*marginX)...)
	}
	return object{
		"$schema":     vegaSchema,
		"description": oneLine(strings.TrimSpace(m.Title + ". " + m.Caption)),
		"title":       object{"text": oneLine(m.Title), "subtitle": under, "anchor": "start", "offset": 12},
		"width":       width,
		"height":      height,
		"layer":       layers,
		"datasets":    tables,
		"config":      vegaConfig(),
	}
}

// meanings explains the marks that have no entry in the legend.
func (v vega) meanings() string {
	out := slices.Clone(v.signs)
	for _, m := range v.explained() {
		what := map[kind]string{rules: "dashed line", paths: "dashed line", bars: "yellow band", areas: "yellow band", diamonds: "hollow diamond"}[m.kind]
		out = append(out, what+": "+m.means)
	}
	return strings.Join(out, " \u00b7 ")
}

// vegaConfig is the common style.
func vegaConfig() object {
	return object{
		"background": "white",
		"padding":    8, // of the white plate, on a dark page
		"font":       "Liberation Sans, Arial, Helvetica, sans-serif",
		"view":       object{"stroke": nil},
		"title":      object{"fontSize": 16, "color": hex(ink), "subtitleColor": hex(inkSoft), "subtitleFontSize": 12, "subtitlePadding": 6},
		"axis": object{
			"labelFontSize": 11.5, "titleFontSize": 12.5, "titleFontWeight": "normal", "labelColor": hex(ink), "titleColor": hex(ink),
			"gridColor": hex(gridLine), "domainColor": hex(inkSoft), "tickColor": hex(inkSoft), "labelLimit": 240,
		},
		"legend": object{"labelFontSize": 11.5, "labelColor": hex(ink), "labelLimit": 360, "orient": "top", "title": nil, "symbolOpacity": 1, "symbolSize": 70},
	}
}

// table returns rows as a table.
func table(rows []datum) list {
	out := list{}
	for _, d := range rows {
		out = append(out, d.row)
	}
	return out
}

// layer returns a layer with the data and the ends of a mark.
func (v vega) layer(m mark, style object) object {
	enc := object{}
	v.addEnds(enc, "x", m.x, m.x2, v.x)
	v.addEnds(enc, "y", m.y, m.y2, v.y)
	if v.groups != nil && m.x != "" {
		v.addGroup(enc, m)
	}
	if m.tips != nil {
		enc["tooltip"] = m.tips
	}
	if !m.hasColour() {
		enc["color"] = v.bySeries(func(l seriesStyle) any { return hex(l.col) })
	}
	if m.kind != words && !m.whole {
		style["clip"] = true
	}
	out := object{"mark": style, "encoding": enc, "data": object{"name": m.table}}
	if m.table == "" {
		out["data"] = object{"values": table(m.rows)}
	}
	if m.needs != "" {
		out["transform"] = list{object{"filter": "isValid(datum." + m.needs + ")"}}
	}
	return out
}

// addEnds adds the channels of a scale.
func (v vega) addEnds(enc object, channel, from, to string, s scale) {
	switch {
	case from == "":
		return
	case channel == "y" && v.named():
		enc[channel] = v.names()
	default:
		enc[channel] = s.channel(from)
	}
	if to != "" {
		enc[channel+"2"] = object{"field": to}
	}
}

// addGroup adds the channels of groups and lanes along x. Groups are numbers with names as labels,
// because names may be equal.
func (v vega) addGroup(enc object, m mark) {
	var domain, names, lanes list
	labels, p := v.groupLabels(px(float64(v.width - vegaMargin)))
	for g, lines := range labels {
		for i, l := range lines {
			lines[i] = oneLine(l)
		}
		domain, names = append(domain, g), append(names, lines)
	}
	for i := range v.series {
		lanes = append(lanes, i)
	}
	group := object{
		"field": "group", "type": "ordinal",
		"scale": object{"domain": domain, "paddingInner": 0.1, "paddingOuter": 0.05},
		"axis": object{"title": axisTitle(v.x.Label), "labelAngle": 0, "labelFontSize": float64(p.font.Size / px(1)),
			"labelExpr": jsonText(names) + "[datum.value]", "ticks": false},
	}
	enc["x"] = group
	if m.wide() {
		group["bandPosition"] = 0
		enc["x2"] = object{"field": "group", "bandPosition": 1}
		return
	}
	enc["xOffset"] = object{"field": "lane", "type": "ordinal", "scale": object{"domain": lanes}}
}

// style returns how a mark is drawn.
func (m mark) style() object {
	out := object{"type": string(m.kind)}
	if m.hasColour() {
		out["color"] = hex(m.col)
	}
	if a := m.strength() * float64(cmp.Or(m.col.A, 255)) / 255; a < 1 {
		out["opacity"] = a
	}
	if m.width > 0 {
		out["strokeWidth"] = m.width
	}
	if m.dashes != nil {
		out["strokeDash"] = vegaDash(m.dashes)
	}
	switch {
	case m.kind == bars && m.hasColour():
		out["type"] = "rect"
	case m.kind == ticks:
		out["thickness"], out["bandSize"] = m.width, 12
	case m.kind == points:
		out["filled"], out["size"], out["opacity"] = true, m.area, m.strength()
	case m.kind == diamonds:
		return object{"type": "point", "shape": "diamond", "filled": true, "fill": hex(paperFill), "stroke": hex(m.col),
			"strokeWidth": 1.4, "size": 90, "opacity": 1}
	case m.kind == words:
		maps.Copy(out, object{"baseline": "top", "align": "left", "dx": 4, "dy": 2, "fontSize": 11.5})
	}
	return out
}

// layers returns the layers of a mark.
func (v vega) layers(m mark) list {
	style := m.style()
	out := v.layer(m, style)
	enc, _ := out["encoding"].(object)
	switch {
	case m.kind == paths && !m.hasColour():
		return v.pathLayers(m, out, enc)
	case m.kind == areas && !m.hasColour():
		delete(style, "opacity")
		enc["opacity"] = emphasisIf("pick", m.strength(), 0.04)
	case m.kind == points:
		enc["shape"] = v.bySeries(func(l seriesStyle) any { return l.shape.vega })
	case m.kind == words:
		enc["y"], enc["text"] = object{"value": 0}, object{"field": m.text}
	}
	return list{out}
}

// emphasisIf returns an opacity for the curves selected in the legend, and a weaker one for the
// others.
func emphasisIf(param string, yes, no float64) object {
	return object{"condition": object{"param": param, "value": yes}, "value": no}
}

// pathLayers adds to the lines of series their points with intervals, which appear when pointed at.
func (v vega) pathLayers(m mark, lines, enc object) list {
	enc["strokeDash"] = v.bySeries(func(l seriesStyle) any { return vegaDash(l.dashes) })
	enc["order"] = object{"field": "i", "type": "quantitative"}
	enc["opacity"] = emphasisIf("pick", 1, 0.15)
	delete(enc, "tooltip")
	lines["params"] = list{object{"name": "pick", "bind": "legend", "select": object{"type": "point", "fields": list{"series"}}}}
	pointed := object{"param": "point", "value": 1, "empty": false}
	dots := v.layer(m, object{"type": "point", "filled": true, "size": 60})
	dots["params"] = list{object{
		"name":   "point",
		"select": object{"type": "point", "on": "pointerover", "clear": "pointerout", "nearest": true, "encodings": list{"x", "y"}},
	}}
	alone := object{"test": "datum.alone", "value": 1} // a single point has no line
	dots["encoding"].(object)["opacity"] = object{"condition": list{pointed, alone}, "value": 0}
	spread := m
	spread.needs, spread.y, spread.y2, spread.tips = "low", "low", "high", nil
	if len(spread.data()) == 0 {
		return list{lines, dots}
	}
	intervals := v.layer(spread, object{"type": "rule", "strokeWidth": 1.8})
	intervals["encoding"].(object)["opacity"] = object{"condition": pointed, "value": 0}
	return list{lines, intervals, dots}
}

// channel returns a column as values of the scale, with the limits of the picture.
func (s scale) channel(column string) object {
	limits := object{"domain": list{s.lo, s.hi}, "nice": false}
	axis := object{"title": axisTitle(s.Label), "grid": s.grid}
	if s.Log {
		limits["type"] = "log"
		axis["values"] = labelledTicks(logTicks(s.lo, s.hi, 8))
	} else {
		limits["zero"] = false
	}
	return object{"field": column, "type": "quantitative", "scale": limits, "axis": axis}
}

// axisTitle returns a label, or nil for none.
func axisTitle(label string) any {
	if label == "" {
		return nil
	}
	return oneLine(label)
}

// labelledTicks returns the values of the ticks with a label.
func labelledTicks(ticks []plot.Tick) list {
	var out list
	for _, t := range ticks {
		if !t.IsMinor() {
			out = append(out, t.Value)
		}
	}
	return out
}

// bySeries returns a channel that distinguishes series, with one legend for all of them.
func (v vega) bySeries(value func(seriesStyle) any) object {
	var domain, values list
	seen := map[string]bool{}
	widest := 1.0
	for _, r := range v.series {
		n := oneLine(r.name)
		if !seen[n] {
			domain, values = append(domain, n), append(values, value(r.seriesStyle))
		}
		seen[n] = true
		widest = max(widest, float64(smallPen().width(n)/px(1)))
	}
	legend := object{"columns": int(clamp(float64(v.width-vegaMargin)/(min(widest, 360)+34), 1, 8))}
	if v.has(paths, 0) {
		legend["symbolType"], legend["symbolSize"], legend["symbolStrokeWidth"] = "stroke", 400, 2
	}
	if v.named() { // explained by signs
		legend = nil
	}
	return object{"field": "series", "type": "nominal", "scale": object{"domain": domain, "range": values}, "legend": legend}
}

// tooltip lists columns of the table under their names.
func tooltip(pairs ...string) list {
	var out list
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, object{"field": pairs[i], "title": pairs[i+1]})
	}
	return out
}

// names returns the channel of the names along y. They are numbers with names as labels, because
// two lines may have the same name, and headings are lines too.
func (v vega) names() object {
	var domain, names list
	heads := list{-1}
	for i, l := range v.lines {
		domain, names = append(domain, i), append(names, oneLine(l.name))
		if l.heading {
			heads = append(heads, i)
		}
	}
	return object{
		"field": "row", "type": "ordinal", "scale": object{"domain": domain},
		"axis": object{
			"title": nil, "ticks": false, "domain": false, "labelExpr": jsonText(names) + "[datum.value]",
			"labelFontWeight": object{"condition": object{"test": "indexof(" + jsonText(heads) + ", datum.value) >= 0", "value": "bold"}, "value": "normal"},
		},
	}
}

// innerWidth returns the width without names and cells.
func (v vega) innerWidth() int {
	return max(160, v.width-min(roundPixels(v.nameWidth()), 240)-roundPixels(cellsWidth(v.cellWidths()))-50)
}

// cells returns the cells at the right of a drawing of the width.
func (v vega) cells(width int) list {
	var out list
	end := width + 14
	for j, w := range v.cellWidths() {
		if w == 0 {
			continue
		}
		end += roundPixels(w)
		style := func(size float64, weight string) object {
			return object{"type": "text", "align": "right", "fontSize": size, "fontWeight": weight, "color": hex(ink)}
		}
		layer := func(rows list, style, y object) object {
			return object{"data": object{"values": rows}, "mark": style,
				"encoding": object{"y": y, "x": object{"value": end}, "text": object{"field": "words"}}}
		}
		var words list
		for i, l := range v.lines {
			if !l.heading {
				words = append(words, object{"row": i, "words": oneLine(l.cells[j])})
			}
		}
		out = append(out, layer(words, style(11.5, "normal"), v.names()),
			layer(list{object{"words": v.heads[j]}}, style(12.5, "bold"), object{"value": -9}))
		end += columnGap
	}
	return out
}

// jsonText returns a list as JSON, which is also a list in Vega's expressions.
func jsonText(l list) string {
	b, err := json.Marshal(l)
	if err != nil {
		return "[]"
	}
	return string(b)
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// vegaDash returns dashes in CSS pixels.
func vegaDash(dashes []vg.Length) list {
	if len(dashes) == 0 {
		return list{1, 0}
	}
	var out list
	for _, d := range dashes {
		out = append(out, float64(d/px(1)))
	}
	return out
}

// intervalWords returns an interval for a tooltip.
func intervalWords(low, high float64, digits int) string {
	return fmt.Sprintf("%s to %s", formatFixed(low, digits), formatFixed(high, digits))
}

// roundPixels returns a length in CSS pixels as a whole number.
func roundPixels(l vg.Length) int { return int(l/px(1) + 0.5) }
