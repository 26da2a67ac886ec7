// Figures as Vega-Lite specifications.

package plot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Interactive is a figure that a browser can also draw with Vega-Lite, with tooltips for its
// values. It accompanies the PNG and does not replace it, because a viewer without scripts shows
// nothing.
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

// maxVega bounds the number of values in a specification, which a notebook stores as text.
const maxVega = 20_000

// object and list are JSON. Objects are written with sorted keys, so that the
// same figure gives the same bytes.
type (
	object = map[string]any
	list   = []any
)

// The margins for labels and titles at the left of a drawing and below it.
const vegaMargin, vegaFoot = 90, 40

// vegaWidth returns the width of the whole figure in CSS pixels.
func vegaWidth(f drawing) int {
	standard := NotebookWidth
	if s, ok := f.(widther); ok {
		standard = min(standard, int(s.standardWidth()))
	}
	return roundPixels(f.meta().width(float64(standard)))
}

// vegaSpec returns the specification of a figure: layers with title, caption, source and style.
// signs explain the marks that have no legend entry.
func vegaSpec(f drawing, signs []string, layers list) object {
	m := f.meta()
	width := vegaWidth(f)
	under := []string{}
	for _, s := range []string{strings.Join(signs, " \u00b7 "), m.Caption, m.Source} {
		under = append(under, wrap(notePen(), oneLine(s), px(float64(width))-2*marginX)...)
	}
	return object{
		"$schema":     vegaSchema,
		"description": oneLine(strings.TrimSpace(m.Title + ". " + m.Caption)),
		"title":       object{"text": oneLine(m.Title), "subtitle": under, "anchor": "start", "offset": 12},
		"width":       width - vegaMargin, // of the drawing alone
		"height":      roundPixels(f.body(px(float64(width)))) - vegaFoot,
		"layer":       layers,
		"config":      vegaConfig(),
	}
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

// encodeVega checks the figure, builds its specification and writes it.
func encodeVega(f drawing, rows int, build func() object) ([]byte, error) {
	if err := verify(f); err != nil {
		return nil, err
	}
	if rows > maxVega {
		return nil, fmt.Errorf("figure %q has %d values; a Vega-Lite picture holds %d, show the PNG", f.meta().Title, rows, maxVega)
	}
	b, err := json.Marshal(build())
	if err != nil {
		return nil, fmt.Errorf("figure %q: %w", f.meta().Title, err)
	}
	return b, nil
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// data returns the inline data of a layer.
func data(rows list) object {
	if rows == nil {
		rows = list{}
	}
	return object{"values": rows}
}

// field returns a quantitative channel for a column of the table.
func field(name string, more ...object) object {
	out := object{"field": name, "type": "quantitative"}
	for _, o := range more {
		for k, v := range o {
			out[k] = v
		}
	}
	return out
}

// vegaAxis returns a channel's scale and axis, with the limits of the picture.
func vegaAxis(a Axis, s span, grid bool) object {
	scale := object{"domain": list{s.lo, s.hi}, "nice": false}
	if a.Log {
		scale["type"] = "log"
	} else {
		scale["zero"] = false
	}
	axis := object{"title": oneLine(a.Label), "grid": grid}
	if a.Label == "" {
		axis["title"] = nil
	}
	if a.Log {
		axis["values"] = labelledTicks(logTicks(s.lo, s.hi, 8))
	}
	return object{"scale": scale, "axis": axis}
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

// seriesChannel returns a channel that distinguishes series, with one legend for all of them.
func seriesChannel(names []string, valueOf func(i int) any, legend object) object {
	var domain, values list
	seen := map[string]bool{}
	for i, n := range names {
		if !seen[n] {
			domain, values = append(domain, n), append(values, valueOf(i))
		}
		seen[n] = true
	}
	return object{
		"field": "series", "type": "nominal",
		"scale":  object{"domain": domain, "range": values},
		"legend": legend,
	}
}

// seriesColour returns the colour channel of series.
func seriesColour(names []string, ls []seriesStyle, legend object) object {
	return seriesChannel(names, func(i int) any { return hex(ls[i].col) }, legend)
}

// vegaColumns returns how many legend entries fit side by side.
func vegaColumns(width int, names []string) int {
	widest := 1.0
	for _, n := range names {
		widest = max(widest, float64(smallPen().width(n)/px(1)))
	}
	return int(clamp(float64(width-vegaMargin)/(min(widest, 360)+34), 1, 8))
}

// tooltip lists columns of the table under their names.
func tooltip(pairs ...string) list {
	var out list
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, object{"field": pairs[i], "title": pairs[i+1]})
	}
	return out
}

// vegaNull draws the null as a dashed line and a band along a channel, "x" or
// "y".
func vegaNull(n *Null, channel string) list {
	if n == nil {
		return nil
	}
	var out list
	if n.Low != nil {
		row := object{"low": *n.Low, "high": *n.High, "what": cmp.Or(n.BandLabel, "chance band")}
		out = append(out, object{
			"data": data(list{row}),
			"mark": vegaBand(),
			"encoding": object{
				channel:       field("low"),
				channel + "2": object{"field": "high"},
				"tooltip":     tooltip("what", "band", "low", "from", "high", "to"),
			},
		})
	}
	row := object{"null": n.Value, "what": cmp.Or(n.Label, "null")}
	return append(out, object{
		"data":     data(list{row}),
		"mark":     vegaNullLine(),
		"encoding": object{channel: field("null"), "tooltip": tooltip("what", "line", "null", "value")},
	})
}

func vegaBand() object {
	return object{"type": "rect", "color": hex(bandFill), "opacity": float64(bandFill.A) / 255, "clip": true}
}

func vegaNullLine() object {
	return object{"type": "rule", "color": hex(nullLine), "strokeWidth": 1.3, "strokeDash": list{5, 3}, "clip": true}
}

// nullSigns explains the line and the band of the null.
func nullSigns(n *Null) []string {
	if n == nil {
		return nil
	}
	out := []string{"dashed line: " + cmp.Or(n.Label, "null")}
	if n.Low != nil {
		out = append(out, "yellow band: "+cmp.Or(n.BandLabel, "chance band"))
	}
	return out
}

const paperSign = "hollow diamond: printed in the paper"

// vegaPaper draws the paper's values, rows of the table, as hollow diamonds.
func vegaPaper(rows list, x, y object, more object, tips list) list {
	if len(rows) == 0 {
		return nil
	}
	enc := object{"x": x, "y": y, "tooltip": tips}
	for k, v := range more {
		enc[k] = v
	}
	return list{object{
		"data": data(rows),
		"mark": object{"type": "point", "shape": "diamond", "filled": true, "fill": hex(paperFill), "stroke": hex(paperInk), "strokeWidth": 1.4,
			"size": 90, "opacity": 1, "clip": true},
		"encoding": enc,
	}}
}

// paperRows are the rows of paper points.
func paperRows(ps []PaperPoint) list {
	var out list
	for _, p := range ps {
		out = append(out, object{"x": p.X, "y": p.Y, "paper": p.Y, "label": oneLine(p.Label)})
	}
	return out
}

// vegaDash returns the dashes of a style in CSS pixels.
func vegaDash(l seriesStyle) list {
	out := list{}
	for _, d := range l.dashes {
		out = append(out, float64(d/px(1)))
	}
	if len(out) == 0 {
		out = list{1, 0}
	}
	return out
}

// intervalWords returns an interval for a tooltip.
func intervalWords(low, high float64, digits int) string {
	return fmt.Sprintf("%s to %s", formatFixed(low, digits), formatFixed(high, digits))
}

// roundPixels returns a length in CSS pixels as a whole number.
func roundPixels(l vg.Length) int { return int(l/px(1) + 0.5) }
