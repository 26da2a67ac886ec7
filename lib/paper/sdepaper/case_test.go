package sdepaper

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// shortStudy is a case whose models have learned next to nothing.
func shortStudy(t *testing.T) *Case {
	t.Helper()
	c, err := openCase(t.Context(), environment(t), small(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestACaseShowsTheSetsThatAreJudged(t *testing.T) {
	c := shortStudy(t)
	late, err := c.Retrained(JudgedAt)
	if err != nil {
		t.Fatal(err)
	}
	const size = 20
	close := func(a, b sde.Distances) bool { // sums over a pool round otherwise
		return math.Abs(a.In-b.In) < 1e-12 && math.Abs(a.Out-b.Out) < 1e-12
	}
	for _, draw := range []int{0, 3} {
		c.Draw = draw
		s, err := c.Sets(late, "hp", size)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []sde.Method{sde.SpreadOnly{}, sde.SDE{}} {
			all, err := c.Judge(late, m, "hp", size, c.Bandwidth("hp"))
			if err != nil {
				t.Fatal(err)
			}
			in, err := sde.JudgeBy(m, s.InTraining, sde.References{In: s.Retained, Out: s.Test}, c.options(c.Bandwidth("hp")))
			if err != nil {
				t.Fatal(err)
			}
			if !close(in, all.Inside.Distances[0]) {
				t.Errorf("draw %d, %s: the first target has %+v, of all %+v", draw, m.Name(), in, all.Inside.Distances[0])
			}
			if m.Name() == (sde.SDE{}).Name() {
				one, err := c.Verdict(s.InTraining, s, c.Bandwidth("hp"))
				if err != nil || one.JSD != in {
					t.Errorf("draw %d: the verdict rests on %+v, want %+v (%v)", draw, one, in, err)
				}
				continue // the forgotten ones draw from other streams
			}
			out, err := sde.JudgeBy(m, s.Removed, sde.References{In: s.Retained, Out: s.Test}, c.options(c.Bandwidth("hp")))
			if err != nil || !close(out, all.Outside.Distances[0]) {
				t.Errorf("draw %d: the first forgotten target has %+v, of all %+v (%v)", draw, out, all.Outside.Distances[0], err)
			}
		}
	}
}

func TestACaseGivesTheNumbersOfTheTables(t *testing.T) {
	c := shortStudy(t)
	judged, err := paper.Collect(t.Context(), c.env, judgedBy(partTrajectory)(c.env, c.run.cell))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range judged.Rows {
		if want.Method != (sde.SDE{}).Name() {
			continue
		}
		n, err := c.Retrained(want.Percent)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Judge(n, sde.SDE{}, "hp", want.Size, sde.SqrtDim())
		if err != nil {
			t.Fatal(err)
		}
		if len(want.Draws) != c.Study.Draws || got.Confusion() != want.Draws[0].Confusion {
			t.Errorf("%d %%: %+v, the table has %+v", want.Percent, got.Confusion(), want.Draws[0])
		}
	}
	if len(judged.Rows) == 0 {
		t.Error("the table has no rows")
	}
}

func TestOtherDrawsJudgeOtherImages(t *testing.T) {
	c := shortStudy(t)
	n := c.Original()
	first, err := c.Sets(n, "hp", 20)
	if err != nil {
		t.Fatal(err)
	}
	c.Draw = 1
	second, err := c.Sets(n, "hp", 20)
	if err != nil {
		t.Fatal(err)
	}
	same := true
	for i, v := range first.Retained.Data {
		same = same && v == second.Retained.Data[i]
	}
	if same {
		t.Error("two draws have the same reference")
	}
}

func TestACaseUnlearnsAsTableFourDoes(t *testing.T) {
	c := shortStudy(t)
	row, err := c.Row(t.Context(), Variant{Label: NoOp, Method: unlearn.NoOp{}, Control: true})
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Unlearn(t.Context(), NoOp, unlearn.NoOp{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Accuracy(n)
	if err != nil {
		t.Fatal(err)
	}
	if row.Moved != 0 || row.Retain != a.Retain.Value || row.Forget != a.Forget.Value || row.Test != a.Test.Value {
		t.Errorf("the row says %+v, the model %+v", row, a)
	}
}

func TestACaseSaysWhereItsNumbersComeFrom(t *testing.T) {
	c := shortStudy(t)
	for source, want := range map[string]string{c.Source(): "seeds 0 ", c.SourceOfAll(): "seeds 0, 1 "} {
		if !strings.Contains(source, want) || !strings.Contains(source, "tiny, R = 30 %") {
			t.Errorf("%q, want %q in it", source, want)
		}
	}
}

func TestACaseRefusesWhatItDoesNotHave(t *testing.T) {
	c := shortStudy(t)
	if _, err := c.Retrained(55); err == nil || !strings.Contains(err.Error(), "55") {
		t.Errorf("weights after 55 %%: %v", err)
	}
	for _, size := range []int{3, len(c.Forget) + 1} {
		if _, err := c.Sets(c.Original(), "hp", size); err == nil || !strings.Contains(err.Error(), "|S|") {
			t.Errorf("|S| = %d: %v", size, err)
		}
	}
	if _, err := c.Sets(c.Original(), "h9", 20); err == nil {
		t.Error("a layer h9 is taken")
	}
	if _, err := OpenCase(context.Background(), nil, "no such scale", 0); err == nil || !strings.Contains(err.Error(), "no such scale") {
		t.Errorf("a scale without a name: %v", err)
	}
}
