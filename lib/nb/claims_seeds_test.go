package nb

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

// The quantile of Student's law with 4 degrees of freedom is 2.776: for 1 ... 5
// the interval is 3 -+ 1.963 (R: t.test(1:5)).
func TestAClaimOverRunsHoldsWithItsWholeInterval(t *testing.T) {
	runs := []float64{1, 2, 3, 4, 5}
	for _, c := range []struct {
		got  Claim
		want string
	}{
		{MeanAbove("up", 1, runs...), "claim holds: up — mean of 5 runs 3 [1.037, 4.963], above 1"},
		{MeanAbove("up", 1.1, runs...), "claim FAILS: up — mean of 5 runs 3 [1.037, 4.963], expected above 1.1"},
		{MeanBelow("down", 5, runs...), "claim holds: down — mean of 5 runs 3 [1.037, 4.963], below 5"},
		{MeanBelow("down", 4.9, runs...), "claim FAILS: down — mean of 5 runs 3 [1.037, 4.963], expected below 4.9"},
		{MeanWithin("near", 1, 5, runs...), "claim holds: near — mean of 5 runs 3 [1.037, 4.963], inside 1 to 5"},
		{MeanWithin("near", 1.1, 5, runs...), "claim FAILS: near — mean of 5 runs 3 [1.037, 4.963], expected inside 1.1 to 5"},
		{MeanWithin("near", 1, 4.9, runs...), "claim FAILS: near — mean of 5 runs 3 [1.037, 4.963], expected inside 1 to 4.9"},
		{MeanWithin("same", 0, 0, 0, 0), "claim holds: same — mean of 2 runs 0 [0, 0], inside 0 to 0"},
		{MeanAbove("one", 0, 7), "claim FAILS: one — 1 runs have no interval"},
		{MeanBelow("none", 0), "claim FAILS: none — 0 runs have no interval"},
	} {
		if got := c.got.line(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if c := MeanBelow("not a number", 9, 1, math.NaN()); c.Holds {
		t.Error(c.line())
	}
}

// A claim about an estimate counts what its interval counts.
func TestAClaimOnAnEstimateHoldsWithItsWholeInterval(t *testing.T) {
	e := stats.Estimate{Value: 3, Low: 1, High: 5, Level: 0.95, Over: "pairs of models", N: 12}
	for _, c := range []struct {
		got  Claim
		want string
	}{
		{EstimateAbove("up", 0.9, e), "claim holds: up — 3 [1, 5] over 12 pairs of models, above 0.9"},
		{EstimateAbove("up", 1, e), "claim FAILS: up — 3 [1, 5] over 12 pairs of models, expected above 1"},
		{EstimateBelow("down", 5.1, e), "claim holds: down — 3 [1, 5] over 12 pairs of models, below 5.1"},
		{EstimateBelow("down", 5, e), "claim FAILS: down — 3 [1, 5] over 12 pairs of models, expected below 5"},
		{EstimateWithin("near", 1, 5, e), "claim holds: near — 3 [1, 5] over 12 pairs of models, inside 1 to 5"},
		{EstimateWithin("near", 1, 4.9, e), "claim FAILS: near — 3 [1, 5] over 12 pairs of models, expected inside 1 to 4.9"},
		{EstimateAbove("one", 0, stats.Estimate{Value: 3, Low: math.NaN(), High: math.NaN()}), "claim FAILS: one — 3 has no interval"},
	} {
		if got := c.got.line(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestRunsAreNumberedFromZero(t *testing.T) {
	got := Runs(3, func(run int) float64 { return float64(10 * run) })
	if len(got) != 3 || got[0] != 0 || got[2] != 20 {
		t.Errorf("%v", got)
	}
}

// In a notebook a claim has a mark and a colour, its numbers stay on one line, and the plain form is
// what a terminal shows.
func TestClaimsOfANotebookHaveMarksAndWholeNumbers(t *testing.T) {
	var sent []output
	s := &outputTarget{notebook: true, drain: func() {}, sync: func() {}, send: func(o output) error { sent = append(sent, o); return nil }}
	s.claims([]Claim{MeanAbove("up & away", 1, 1, 2, 3, 4, 5), MeanBelow("down", 0, -1, 5)})
	s.claims(nil)
	if len(sent) != 1 {
		t.Fatalf("%d outputs", len(sent))
	}
	page, text := fmt.Sprint(sent[0].data["text/html"]), fmt.Sprint(sent[0].data["text/plain"])
	for _, want := range []string{"\u2713\u00a0claim holds</span> up &amp; away — mean of 5 runs 3\u00a0[1.037,\u00a04.963], above 1</p>", "\u2717\u00a0claim FAILS</span> down — "} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if want := "claim holds: up & away — mean of 5 runs 3 [1.037, 4.963], above 1\nclaim FAILS: down — "; !strings.HasPrefix(text, want) {
		t.Errorf("%q does not begin with %q", text, want)
	}
}

func TestNumbersOfMarkdownStayWhole(t *testing.T) {
	got := keepNumbers("0.5 [0.4, 0.6] is 95 % of `x[1, 2]` and $[0, 1] 5 %$, or [a link](b) of 7 %")
	if want := "0.5\u00a0[0.4,\u00a00.6] is 95\u00a0% of `x[1, 2]` and $[0, 1] 5 %$, or [a link](b) of 7\u00a0%"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
