package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// sceneFigures are figures of every kind that is made of marks.
func sceneFigures() map[string]drawing {
	out := seriesFigures([]seriesID{{"a", false}, {"b", true}})
	delete(out, "panels")
	value, band := 0.5, &Null{Value: 0.5, Low: Limit(0.4), High: Limit(0.6)}
	out["forest"] = Forest{Null: band, Rows: []ForestRow{
		{Group: "g", Label: "a", Estimate: stats.Estimate{Value: 1, Low: 0, High: 2}, Paper: &value},
		{Group: "g", Label: "b", Estimate: stats.Estimate{Value: 1, Low: math.NaN(), High: math.NaN()}, Control: true},
	}}
	for _, kind := range []Summary{Box, MeanInterval} {
		out[fmt.Sprint("strips of summary ", kind)] = Strips{Summary: kind, Groups: []string{"g", "h"}, GroupNulls: []Null{*band, {Value: 0.5}},
			Series: []StripSeries{{Name: "a", Values: [][]float64{{1, 2, 3, 4, 5}, {1}}, Paper: []*float64{nil, &value}}}}
	}
	out["curves with all"] = Curves{Null: band, Marks: []Mark{{X: 1, Label: "here"}}, Paper: []PaperPoint{{X: 1, Y: 1}},
		Curves: []Curve{{X: []float64{0, 1}, Y: []float64{0, 1}, Low: []float64{0, 0}, High: []float64{1, 2}}}}
	out["ROC with all"] = ROC{Log: true, Positives: 20, Negatives: 20, Paper: []PaperPoint{{X: 0, Y: 1}},
		Curves: []ROCCurve{{FPR: []float64{0, 0.5, 1}, TPR: []float64{0, 0.7, 1}}}}
	out["decision"] = Decision{Grid: Grid{XMax: 1, YMax: 1, Columns: 2, Rows: 2}, Classes: []string{"a", "b"},
		Probabilities: array.Matrix[float32]{Rows: 4, Cols: 2, Data: []float32{1, 0, 0, 1, 0, 1, 1, 0}},
		Points:        []DecisionPoints{{X: []float64{0.5}, Y: []float64{0.5}}, {Kind: Forgotten, X: []float64{0.2}, Y: []float64{0.1}, Class: []int{1}}}}
	return out
}

// The columns of a mark are names. A name that no row has would draw nothing, without an error.
func TestEveryRowHasTheColumnsThatItsMarkDraws(t *testing.T) {
	for name, f := range sceneFigures() {
		if err := verify(f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, drawn := f.scene(), 0
		for _, m := range s.marks {
			for _, d := range m.data() {
				drawn++
				for _, column := range []string{m.x, m.y, m.x2, m.y2} {
					if v := d.number(column); column != "" && (math.IsNaN(v) || math.IsInf(v, 0)) {
						t.Errorf("%s: a %s has %v as %q in %v", name, m.kind, v, column, d.row)
					}
				}
				if !m.hasColour() && (d.series < 0 || d.series >= len(s.series)) {
					t.Errorf("%s: a %s is of series %d of %d", name, m.kind, d.series, len(s.series))
				}
				for _, tip := range m.tips {
					if title, _ := tip.(object)["title"].(string); title == "" {
						t.Errorf("%s: a tooltip of a %s has no title", name, m.kind)
					}
				}
			}
		}
		if drawn == 0 {
			t.Errorf("%s has no marks", name)
		}
	}
}

// An interval of no width is drawn, and its tips are seen. One outside the axis is not drawn, and
// one that goes on outside ends in an arrow instead of a tip.
func TestRulesOfNoWidthHaveTipsAndThoseOutsideHaveNothing(t *testing.T) {
	paths := func(low, high float64) int {
		f := Forest{X: Axis{Min: Limit(0), Max: Limit(1)}, Rows: []ForestRow{{Label: "x", Estimate: stats.Estimate{Value: 5, Low: low, High: high}}}}
		var b strings.Builder
		if err := f.Render(&b, inline); err != nil {
			t.Fatal(err)
		}
		return strings.Count(b.String(), "<path")
	}
	none, inside, narrow, cut := paths(3, 4), paths(0.2, 0.4), paths(0.3, 0.3), paths(0.5, 9)
	if inside != none+3 || narrow != inside || cut != inside {
		t.Errorf("%d paths without, %d with an interval inside, %d of no width, %d cut; want three more for a line and its tips", none, inside, narrow, cut)
	}
}
