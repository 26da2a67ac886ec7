// A table, a figure and a terminal for the tests of this package.

package nb

import (
	"bytes"
	"time"

	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/report"
)

func testTable() *report.Table {
	half := 0.5
	return &report.Table{
		ID: "test", Title: "Scores <of> methods", Caption: "Higher is better.",
		Columns: []report.Column{{Name: "method"}, {Name: "accuracy", Unit: "%", Note: "balanced", Paper: true}},
		Rows: []report.Row{
			{Cells: []report.Cell{report.Str("forget & go"), report.Num(0.25, 2)}},
			{Kind: report.Control, Cells: []report.Cell{report.Str("do nothing"), {Text: "0.50", Value: &half}}},
			{Kind: report.Paper, Group: "others", Cells: []report.Cell{report.Str("SCRUB"), report.Gap("not printed")}},
		},
		Notes:      []string{"Only a test."},
		Provenance: report.Provenance{Scale: "quick", Seeds: []int64{0, 1, 2}},
	}
}

func testFigure(last float64) plot.Figure {
	return plot.Curves{
		Meta:   plot.Meta{Title: "Loss"},
		Curves: []plot.Curve{{Name: "model", X: []float64{1, 2, 3}, Y: []float64{3, 2, last}}},
	}
}

// newTerminal is a stage without a notebook; its clock stands still until it is
// moved. It returns what goes to standard output and to standard error.
func newTerminal() (s *outputTarget, out, errs *bytes.Buffer, clock *time.Time) {
	out, errs, clock = &bytes.Buffer{}, &bytes.Buffer{}, &time.Time{}
	s = &outputTarget{out: out, err: errs, now: func() time.Time { return *clock }, exit: func(int) {}}
	return s, out, errs, clock
}

// testColumns are the columns of two data sets.
var testColumns = map[string][]string{"adult": {"age", "hours"}, "bank": {"balance", "age", "job"}}
