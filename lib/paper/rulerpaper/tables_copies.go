package rulerpaper

// The table of copies among the records.

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/report"
)

var copies = Recipe{
	ID:    "ruler/copies",
	Title: "RULER, M4 of records that have an exact copy",
	Doc: "A forget record with an exact copy in the retain set is as near to it as anything can be, and equation (7) ranks it at the top, beside " +
		"every retained record with a copy of its own. In the published program the last bit of a similarity decides between them (as coded). " +
		"The oracle's own M4 in both readings; a difference that all variants share does not show forgetting.",
}

func init() {
	copies.studies = oneStudy(mainStudy)
	copies.make = func(e *Env, s Scale, parts []*Collected) (*Output, error) {
		c := parts[0]
		t := e.table(copies, s, c)
		t.Columns = []report.Column{{Name: "data set"}, {Name: "fraction"},
			{Name: "copies", Note: "forget records whose embedding in the oracle is a retained record's up to rounding; the largest of the seeds"},
			{Name: "oracle's M4", Note: "mean over the seeds named below, null 0.5"}, {Name: "as coded"}, {Name: "difference"},
			{Name: "do nothing, difference"}, {Name: "methods, largest difference", Note: "over methods, of the means over seeds"}}
		for _, d := range c.Study.DataSets {
			for _, f := range c.Study.Fractions {
				t.Rows = append(t.Rows, c.copiesRow(d, f))
			}
		}
		return &Output{Table: t}, nil
	}
}

func (c *Collected) copiesRow(d string, f float64) report.Row {
	of := func(variant string) []Row {
		return filter(c.Rows, func(r Row) bool { return r.DataSet == d && r.Fraction == f && r.Variant == variant })
	}
	gap := func(variant string) float64 {
		return mean(values(of(variant), func(r Row) float64 { return r.M4 - r.M4AsCoded }))
	}
	oracle, most, largest := of(Oracle), 0, 0.0
	for _, r := range oracle {
		most = max(most, r.Copies)
	}
	for _, a := range c.variants() {
		if g := gap(a.Label); !a.Control && math.Abs(g) > math.Abs(largest) {
			largest = g
		}
	}
	coded := mean(values(oracle, func(r Row) float64 { return r.M4AsCoded }))
	return report.Row{Group: d, Cells: []report.Cell{
		report.Str(d), report.Str(percent(f)), report.Str(fmt.Sprintf("%d of %d", most, oracle[0].Forget)),
		report.Num(mean(values(oracle, m4.Value)), 4), report.Num(coded, 4), report.Num(gap(Oracle), 4), report.Num(gap(NoOp), 4), report.Num(largest, 4),
	}}
}
