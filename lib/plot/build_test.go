package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

func TestAPointWithoutAnIntervalLeavesTheCurveWithoutABand(t *testing.T) {
	with, without := stats.Wilson(0.5, 10, 0.95), stats.Estimate{Value: 0.5, Low: math.NaN(), High: math.NaN()}
	for name, points := range map[string][]stats.Estimate{"first": {without, with, with}, "last": {with, with, without}} {
		c := Curve{Name: "c"}
		for k, e := range points {
			c.Add(float64(k), e)
		}
		if err := (Curves{Curves: []Curve{c}}).check(); err != nil || len(c.X) != 3 || len(c.Low) != 0 {
			t.Errorf("%s: %v, %d points, %d bounds", name, err, len(c.X), len(c.Low))
		}
	}
}

// The null, the no-op and the oracle were drawn in one figure of a notebook as
// three dark dashed lines. A control has signs on its line, each its own.
func TestControlsAndTheNullAreNotOneKindOfLine(t *testing.T) {
	f := Curves{Curves: []Curve{HorizontalLine("do nothing", 1, 0, 1), HorizontalLine("oracle", 2, 0, 1)}, Null: &Null{Value: 0}}
	seen := map[string]bool{}
	for _, l := range f.scene().styles() {
		seen[fmt.Sprint(l.shape, l.dashes)] = true
	}
	if len(seen) != 2 {
		t.Errorf("two controls look alike: %v", seen)
	}
	strokes := func(curves ...Curve) int {
		var b strings.Builder
		if err := (Curves{Curves: curves}).Render(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		return strings.Count(b.String(), "<path")
	}
	method, other := Curve{Name: "method", X: []float64{0, 1}, Y: []float64{0, 2}}, Curve{Name: "other", X: []float64{0, 1}, Y: []float64{2, 0}}
	alone := strokes(method)
	if n := strokes(method, HorizontalLine("flat", 1, 0, 1)); n < alone+10 {
		t.Errorf("%d strokes with a control, %d without: its signs are missing", n, alone)
	}
	if n := strokes(method, other); n < alone+20 {
		t.Errorf("%d strokes of two methods, %d of one: their signs are missing", n, alone)
	}
}
