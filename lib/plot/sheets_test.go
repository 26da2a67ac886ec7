package plot

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

// texts are where each text of an inline drawing begins, how wide it is, and its words.
var texts = regexp.MustCompile(`(?s)<text textLength="([0-9.e+-]+)"[^>]*? x="([0-9.]+)"[^>]*>(.*?)</text>`)

func forestOver(title, over string) Forest {
	e := stats.Estimate{Value: 0.6, Low: 0.5, High: 0.7, Level: 0.95, Over: over}
	return Forest{Meta: Meta{Title: title}, Rows: []ForestRow{{Label: "one", Estimate: e}, {Label: "two", Estimate: e, Control: true}}}
}

// A label that is wider than a phone screen is broken into lines.
func TestNoLegendIsCutOnANarrowScreen(t *testing.T) {
	for _, f := range []Figure{
		forestOver("a", stats.OverDraws),
		Panels{Columns: 1, Figures: []Figure{forestOver("a", stats.OverDraws), forestOver("b", "records")}},
		Curves{Curves: []Curve{{Name: "the distance of forgotten records from where a retrained model has them, on average over seeds", X: []float64{0, 1}, Y: []float64{0, 1}}}},
	} {
		const width = 380
		svg, err := Inline(f, width)
		if err != nil {
			t.Fatal(err)
		}
		found := texts.FindAllStringSubmatch(svg, -1)
		if len(found) < 5 {
			t.Fatalf("%d texts in %.600s", len(found), svg)
		}
		for _, m := range found {
			long, _ := strconv.ParseFloat(m[1], 64)
			x, _ := strconv.ParseFloat(m[2], 64)
			if (x+long)*96/72 > width && !strings.Contains(m[0], "middle") {
				t.Errorf("%q ends at %.0f of %d pixels", m[3], (x+long)*96/72, width)
			}
		}
	}
}

// The unit of intervals is in the headings if it differs between panels.
func TestForestsWithDifferentIntervalsShareOneEntry(t *testing.T) {
	p := Panels{Columns: 1, Figures: []Figure{forestOver("a", "records"), forestOver("b", stats.OverDraws)}}
	labels := func(p Panels) (out []string) {
		for _, e := range p.scene().legend() {
			out = append(out, e.label)
		}
		return out
	}
	if got := labels(p); !slices.Equal(got, []string{"estimate and interval", "control"}) {
		t.Errorf("the legend has %q", got)
	}
	var heads []string
	for _, s := range p.panels() {
		heads = append(heads, s.heading)
	}
	if heads[0] != "a, 95 % interval over records" || !strings.HasPrefix(heads[1], "b, 95 % interval over draws of references") {
		t.Errorf("headings %q", heads)
	}
	p.Figures[1] = forestOver("b", "records")
	if got := labels(p); !slices.Equal(got, []string{"estimate and 95 % interval over records", "control"}) || p.panels()[1].heading != "b" {
		t.Errorf("of one kind: %q", got)
	}
}

func TestSheetsHoldEveryPanelAndKeepTheStyles(t *testing.T) {
	curve := func(title string, names ...string) Curves {
		f := Curves{Meta: Meta{Title: title}}
		for _, n := range names {
			f.Curves = append(f.Curves, Curve{Name: n, X: []float64{0, 1}, Y: []float64{0, 1}})
		}
		return f
	}
	p := Panels{Meta: Meta{Title: "whole"}, Columns: 1, Figures: []Figure{curve("1", "a", "b"), curve("2", "b"), curve("3", "c")}}
	sheets := p.Sheets(2)
	if len(sheets) != 2 || len(sheets[0].Figures) != 2 || len(sheets[1].Figures) != 1 || sheets[0].Title != "whole" || sheets[1].Title != "" {
		t.Fatalf("%+v", sheets)
	}
	stylesOf := func(p Panels) map[string]string {
		out := map[string]string{}
		for _, e := range p.scene().legend() {
			out[e.label] = e.styleKey
		}
		return out
	}
	whole, last := stylesOf(p), stylesOf(sheets[1])
	if last["c"] == "" || last["c"] != whole["c"] || last["c"] == whole["a"] || len(last) != 1 {
		t.Errorf("%v on the last sheet, %v on the whole", last, whole)
	}
}
