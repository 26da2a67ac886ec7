package lenstest

import (
	"maps"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/stats"
)

// wrong is the lens on losses with a fault.
type wrong struct {
	audit.Loss
	before func(e *audit.Evidence, m *audit.Arrays) // writes to what it is given
	other  func(e audit.Evidence) *audit.Evidence   // reads this in its place
	after  func(r *audit.Reading)
	info   func(i *audit.Info)
	none   bool // returns neither a reading nor an error
}

func (w wrong) Info() audit.Info {
	i := w.Loss.Info()
	if w.info != nil {
		w.info(&i)
	}
	return i
}

func (w wrong) Read(e *audit.Evidence, m *audit.Arrays) (*audit.Reading, error) {
	if w.none {
		return nil, nil
	}
	if w.before != nil {
		w.before(e, m)
	}
	if w.other != nil {
		e = w.other(*e)
	}
	r, err := w.Loss.Read(e, m)
	if err == nil && w.after != nil {
		w.after(r)
	}
	return r, err
}

// narrowOver makes an interval next to nothing, over a unit.
func narrowOver(unit string) func(r *audit.Reading) {
	return func(r *audit.Reading) { r.Over, r.Low, r.High = unit, r.Value-1e-6, r.Value+1e-6 }
}

func checkWrongScores(t *testing.T, l audit.Lens, g *fixture) {
	checkScores(t, l, evidenceOf(t, l, g.newCase(visible, forgottenAreMembers)), evidenceOf(t, l, g.newCase(visible, heldOutAreMembers)))
}

func checkWrongWrites(t *testing.T, l audit.Lens, g *fixture) {
	checkUnchanged(t, l, evidenceOf(t, l, g.newCase(3, forgottenAreMembers)))
}

func checkWrongGroups(t *testing.T, l audit.Lens, _ *fixture) { checkGroups(t, l) }

// brokenReadings are faults, with the check that must find each and what it must say.
var brokenReadings = map[string]struct {
	says  string
	check func(t *testing.T, l audit.Lens, g *fixture)
	wrong
}{
	"scores of the other sign": {"disagree on which records look like members", checkWrongScores, wrong{after: func(r *audit.Reading) {
		for _, s := range []audit.Scored{r.Scores.Forget, r.Scores.HeldOut} {
			for i := range s.Values {
				s.Values[i] *= -1
			}
		}
	}}},
	"scores exchanged": {"Scores.Forget has 160 records, and 40 are to be forgotten", checkWrongScores, wrong{after: func(r *audit.Reading) {
		r.Scores.Forget, r.Scores.HeldOut = r.Scores.HeldOut, r.Scores.Forget
	}}},
	"scores of other records": {"is there twice, or in another set", checkWrongScores, wrong{after: func(r *audit.Reading) {
		r.Scores.Forget.Rows = slices.Clone(r.Scores.HeldOut.Rows[:len(r.Scores.Forget.Rows)])
	}}},
	"a score that is not finite": {"Scores.Forget: the score of record", checkWrongScores, wrong{after: func(r *audit.Reading) {
		r.Scores.Forget.Values[0] = math.NaN()
	}}},
	"a score less": {"Scores.Forget has 40 records and 39 values", checkWrongScores, wrong{after: func(r *audit.Reading) {
		r.Scores.Forget.Values = r.Scores.Forget.Values[1:]
	}}},
	"no scores":             {"and the reading has none", checkWrongScores, wrong{after: func(r *audit.Reading) { r.Scores = nil }}},
	"scores nobody is told": {"Info.PerRecord does not say so", checkWrongScores, wrong{info: func(i *audit.Info) { i.PerRecord = false }}},
	"writes losses": {"the lens wrote to e.Models[0].Losses", checkWrongWrites, wrong{before: func(_ *audit.Evidence, m *audit.Arrays) {
		m.Losses[0] /= 2
	}}},
	"writes labels": {"the lens wrote to e.Labels", checkWrongWrites, wrong{before: func(e *audit.Evidence, _ *audit.Arrays) { e.Labels[0]++ }}},
	"retained for held-out records": {"20 of 20 models that were retrained without the records are told from the null", checkRetrained,
		wrong{other: func(e audit.Evidence) *audit.Evidence {
			e.HeldOut = e.Retain
			return &e
		}}},
	"a unit misspelt":         {`the interval is over "record": no unit is called so`, checkNull, wrong{after: narrowOver("record")}},
	"over models":             {"the interval is over models, and one model is read", checkNull, wrong{after: narrowOver(stats.OverModels)}},
	"narrow over subsets":     {"0.000 of the 95 % intervals over subsets hold the null", checkNull, wrong{after: narrowOver(stats.OverSubsets)}},
	"narrow over few records": {"of the 95 % intervals over marked records hold the null", checkNull, wrong{after: narrowOver("marked records")}},
	"huge intervals": {"so wide an interval is like everything", checkNull, wrong{after: func(r *audit.Reading) {
		r.Low, r.High = r.Value-0.2, r.Value+0.2
	}}},
	"huge intervals over groups": {"so wide an interval is like everything", checkWrongGroups, wrong{after: func(r *audit.Reading) {
		if r.Clustered != nil {
			r.Low, r.High = r.Value-0.9, r.Value+0.9
		}
	}}},
	"neither reading nor error": {`the lens "loss" returned neither a reading nor an error`, checkNull, wrong{none: true}},
	"no bounds":                 {"has no bounds 0 and 1 (Info.High)", checkNull, wrong{info: func(i *audit.Info) { i.High = 0 }}},
	"bounds of others":          {"is outside [0, 0.4]", checkNull, wrong{info: func(i *audit.Info) { i.High = 0.4 }}},
}

func TestBrokenReadings(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, name := range slices.Sorted(maps.Keys(brokenReadings)) {
		b := brokenReadings[name]
		t.Run(name, func(t *testing.T) { b.check(t, watch(b.wrong), newFixture(t, audit.Loss{})) })
	}
}

func TestTheSuiteNamesTheFaultsOfReadings(t *testing.T) {
	says := map[string]string{}
	for name, b := range brokenReadings {
		says[name] = b.says
	}
	conform.CheckSubtestsSay(t, "TestBrokenReadings", says)
}

// A fault that every reading has is said once, not once for each of the cases.
func TestAFaultOfEveryReadingIsSaidOnce(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self, "-test.run=^TestBrokenReadings$/^no_bounds$", "-test.v")
	child.Env = append(os.Environ(), "LETHE_RUN_BROKEN=1")
	out, err := child.CombinedOutput()
	if n := strings.Count(string(out), brokenReadings["no bounds"].says); err == nil || n != 1 {
		t.Errorf("it is said %d times (%v):\n%s", n, err, out)
	}
}

// Without a fault the same checks pass.
func TestTheChecksOfReadingsPassTheLensOnLosses(t *testing.T) {
	lens := watch(wrong{})
	g := newFixture(t, lens)
	checkWrongScores(t, lens, g)
	checkWrongWrites(t, lens, g)
	checkRetrained(t, lens, g)
	checkNull(t, lens, g)
}
