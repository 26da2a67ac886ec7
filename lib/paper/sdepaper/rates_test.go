package sdepaper

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// Two draws of ten subsets: the rule is the mean over draws, what is decided counts
// all draws together.
func TestRatesAreMeansOverDraws(t *testing.T) {
	r := rateOut([]Sample{{Tally: sde.Tally{In: 2, Out: 8}}, {Tally: sde.Tally{In: 2, Out: 2, Ties: 6}, Void: true}})
	want := Rates{Rule: 0.8, Decided: 10.0 / 14, Ties: 0.3, SD: 0, Void: 1, N: 2}
	if math.Abs(r.Rule-want.Rule) > 1e-15 || math.Abs(r.Decided-want.Decided) > 1e-15 || math.Abs(r.Ties-want.Ties) > 1e-15 ||
		r.SD > 1e-15 || r.Void != 1 || r.N != 2 {
		t.Errorf("%+v, want %+v", r, want)
	}
	r = rateOut([]Sample{{Tally: sde.Tally{In: 10}}, {Tally: sde.Tally{Out: 10}}})
	if r.Rule != 0.5 || math.Abs(r.SD-math.Sqrt(0.5)) > 1e-15 {
		t.Errorf("%+v", r)
	}
	j := Judged{Draws: []Draw{{Confusion: sde.Confusion{Inside: sde.Tally{In: 4}, Outside: sde.Tally{Ties: 4}}}}}
	if f := j.F1(); f.Rule != 1 || f.Decided != 1 || f.Ties != 0.5 {
		t.Errorf("F1 %+v", f)
	}
	if a := j.Accuracy(); a.Rule != 1 || !math.IsNaN(a.Decided) {
		t.Errorf("accuracy %+v", a)
	}
}

func TestCellsOfReadingsSayWhatIsMissing(t *testing.T) {
	models := []Rates{{Rule: 1, Decided: math.NaN(), Ties: 1, N: 20}, {Rule: 0.5, Decided: 0.25, Ties: 0.5, SD: 0.1, Void: 3, N: 20}}
	readings := func(models []Rates) (out []report.Cell) {
		for _, c := range readingColumns("F1", func(r Rates) Rates { return r }) {
			out = append(out, c.Cell(paper.Line[Rates]{Models: models}))
		}
		return out
	}
	cells := readings(models)
	if !strings.HasSuffix(cells[0].Text, "!3/40") || *cells[0].Value != 0.75 || cells[0].Estimate.Over != "models" {
		t.Errorf("by the rule: %+v", cells[0])
	}
	if *cells[1].Value != 0.25 || !strings.HasSuffix(cells[1].Text, "(1 all ties)") || cells[2].Text != "0.750" || cells[3].Text != "0.05" {
		t.Errorf("%q, %q, %q", cells[1].Text, cells[2].Text, cells[3].Text)
	}
	if c := readings(models[:1]); c[1].Missing != "all ties" {
		t.Errorf("%+v", c[1])
	}
	for _, c := range readings(nil) {
		if c.Missing == "" {
			t.Errorf("nothing computed: %+v", c)
		}
	}
}
