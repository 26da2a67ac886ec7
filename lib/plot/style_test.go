package plot

import (
	"encoding/json"
	"fmt"
	"image/color"
	"testing"
)

// A print in grey has no colours: twelve methods and four controls are told apart by
// sign, and the lines of controls by their dashes, of which none is the null's.
func TestSeriesAreToldApartWithoutColour(t *testing.T) {
	var series []seriesID
	for i := range 12 {
		series = append(series, seriesID{fmt.Sprint("method ", i), false})
	}
	for i := range 4 {
		series = append(series, seriesID{fmt.Sprint("control ", i), true})
	}
	signs, dashes := map[string]string{}, map[string]string{fmt.Sprint(dashed(ink, 1).Dashes): "the null"}
	for i, l := range seriesStyles(series) {
		name := series[i].name
		sign := fmt.Sprintf("%T %v", l.shape, l.shape)
		if other := signs[sign]; other != "" {
			t.Errorf("%s has the sign of %s", name, other)
		}
		signs[sign] = name
		if !series[i].control {
			continue
		}
		if other := dashes[fmt.Sprint(l.dashes)]; other != "" {
			t.Errorf("%s has the dashes of %s", name, other)
		}
		dashes[fmt.Sprint(l.dashes)] = name
	}
}

// Panels that show other series in another order: whatever has one name has one
// style, and no other series has it.
func TestPanelsGiveASeriesAStyleOfItsOwn(t *testing.T) {
	strips := func(series ...StripSeries) Strips {
		for i := range series {
			series[i].Values = [][]float64{{1, 2}}
		}
		return Strips{Groups: []string{"g"}, Series: series}
	}
	p := Panels{Figures: []Figure{
		strips(StripSeries{Name: "oracle", Control: true}),
		strips(StripSeries{Name: "a"}, StripSeries{Name: "nothing", Control: true}),
		strips(StripSeries{Name: "b"}, StripSeries{Name: "a"}, StripSeries{Name: "oracle", Control: true}),
	}}
	if err := p.check(); err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, e := range p.scene().legend() {
		if other := shown[e.styleKey]; other != "" {
			t.Errorf("%q and %q look alike", other, e.label)
		}
		shown[e.styleKey] = e.label
	}
	if len(shown) != 4 {
		t.Errorf("%d looks in the legend: %v", len(shown), shown)
	}
	first, last := p.panels()[0].legend()[0], p.panels()[2].legend()[2]
	if first.label != last.label || first.styleKey != last.styleKey {
		t.Errorf("%q is shown as %q and as %q", first.label, first.styleKey, last.styleKey)
	}
}

// seriesFigures are a figure of every kind that has series, with these.
func seriesFigures(series []seriesID) map[string]drawing {
	var curves Curves
	var clouds Scatter
	var roc ROC
	strips := Strips{Groups: []string{"g"}}
	var histograms Histograms
	for _, s := range series {
		curves.Curves = append(curves.Curves, Curve{Name: s.name, X: []float64{0, 1}, Y: []float64{0, 1}, Control: s.control})
		clouds.Clouds = append(clouds.Clouds, Cloud{Name: s.name, X: []float64{0}, Y: []float64{1}, Control: s.control})
		roc.Curves = append(roc.Curves, ROCCurve{Name: s.name, FPR: []float64{0, 1}, TPR: []float64{0, 1}, Control: s.control})
		strips.Series = append(strips.Series, StripSeries{Name: s.name, Values: [][]float64{{1, 2}}, Control: s.control})
		histograms.Samples = append(histograms.Samples, Sample{Name: s.name, Values: []float64{1, 2}, Control: s.control})
	}
	out := map[string]drawing{"curves": curves, "scatter": clouds, "ROC": roc, "strips": strips, "histograms": histograms}
	out["panels"] = Panels{Figures: []Figure{curves, strips}}
	return out
}

// No figure gives two series of one legend the same look: up to twelve methods and four controls
// have a colour each, and more have another shape or other dashes.
func TestNoTwoSeriesOfALegendLookAlike(t *testing.T) {
	for _, methods := range []int{8, 12, 24} {
		var series []seriesID
		for i := range methods {
			series = append(series, seriesID{fmt.Sprint("method ", i), false})
		}
		for i := range 4 {
			series = append(series, seriesID{fmt.Sprint("control ", i), true})
		}
		if colours := coloursOf(seriesStyles(series)); methods <= 12 && len(colours) != len(series) {
			t.Errorf("%d methods and 4 controls have %d colours", methods, len(colours))
		}
		for kind, f := range seriesFigures(series) {
			looks := map[string]string{}
			for _, e := range f.scene().legend() {
				if other := looks[e.styleKey]; other != "" && other != e.label {
					t.Errorf("%s of %d methods: %q and %q look alike", kind, methods, e.label, other)
				}
				looks[e.styleKey] = e.label
			}
			if v, ok := f.(Interactive); ok {
				checkVegaLooks(t, fmt.Sprintf("%s of %d methods in Vega-Lite", kind, methods), v, len(series))
			}
		}
	}
}

func coloursOf(styles []seriesStyle) map[color.NRGBA]bool {
	out := map[color.NRGBA]bool{}
	for _, l := range styles {
		out[l.col] = true
	}
	return out
}

// checkVegaLooks checks the ranges of the channels of a specification: together they tell all
// series apart.
func checkVegaLooks(t *testing.T, what string, f Interactive, want int) {
	t.Helper()
	spec, err := f.VegaLite()
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(spec, &tree); err != nil {
		t.Fatal(err)
	}
	channels := map[string][]any{}
	collectRanges(tree, channels)
	looks := map[string]bool{}
	for i := range want {
		look := ""
		for _, name := range []string{"color", "strokeDash", "shape"} {
			if values := channels[name]; values != nil {
				look += fmt.Sprint(name, values[i])
			}
		}
		looks[look] = true
	}
	if len(looks) != want {
		t.Errorf("%s: %d looks for %d series", what, len(looks), want)
	}
}

// collectRanges collects the ranges of the scales of channels by name.
func collectRanges(tree any, into map[string][]any) {
	switch node := tree.(type) {
	case map[string]any:
		for name, child := range node {
			if channel, ok := child.(map[string]any); ok {
				if scale, ok := channel["scale"].(map[string]any); ok {
					if values, ok := scale["range"].([]any); ok {
						into[name] = values
					}
				}
			}
			collectRanges(child, into)
		}
	case []any:
		for _, child := range node {
			collectRanges(child, into)
		}
	}
}
