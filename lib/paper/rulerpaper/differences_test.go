package rulerpaper

import (
	"fmt"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
)

// The rows of the two variants come in different orders, and one run is missing.
func TestDifferencesArePairedByRunAndNotByPlace(t *testing.T) {
	row := func(set, variant string, seed int, m2 float64) Row {
		return Row{DataSet: set, Variant: variant, Seed: seed, Fraction: 0.05, M2: m2}
	}
	c := &Collected{
		Study: Study{DataSets: []string{"x", "y"}, Fractions: []float64{0.05}},
		Evidence: paper.Evidence[Row]{Rows: []Row{
			row("x", NG, 0, 10), row("x", NG, 1, 20), row("y", NG, 0, 30), row("y", NG, 1, 40),
			row("y", NoOp, 0, 3), row("x", NoOp, 1, 2), row("x", NoOp, 0, 1),
			{DataSet: "x", Variant: NoOp, Fraction: 0.01, M2: 99},
		}},
	}
	got := c.PerDataSet(c.Differences(NG, NoOp, 0.05, func(r Row) float64 { return r.M2 }))
	if fmt.Sprint(got) != "[[9 18] [27]]" {
		t.Error(got)
	}
	if all := c.All(NoOp); len(all) != 3 {
		t.Errorf("%d rows of doing nothing at the study's fractions", len(all))
	}
}
