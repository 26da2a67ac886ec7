package plot

import (
	"fmt"
	"testing"
)

// A print in grey has no colours: six methods and four controls are told apart by
// sign, and the lines of controls by their dashes, of which none is the null's.
func TestSeriesAreToldApartWithoutColour(t *testing.T) {
	var series []seriesID
	for i := range 6 {
		series = append(series, seriesID{fmt.Sprint("method ", i), false})
	}
	for i := range 4 {
		series = append(series, seriesID{fmt.Sprint("control ", i), true})
	}
	signs, dashes := map[string]string{}, map[string]string{fmt.Sprint(dashed(ink, 1).Dashes): "the null"}
	for i, l := range seriesStyles(series) {
		name := series[i].name
		if other := signs[fmt.Sprintf("%T", l.shape)]; other != "" {
			t.Errorf("%s has the sign of %s", name, other)
		}
		signs[fmt.Sprintf("%T", l.shape)] = name
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
	for _, e := range p.legend() {
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
