package judge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// For every combination of verdicts the headline names each that occurs, and nobody else's;
// it says all only where there is no other, and its answer contradicts none of them.
func TestTheHeadlineNamesEveryVerdict(t *testing.T) {
	rng, null := rand.New(rand.NewPCG(3, 14)), 0.5
	reading := audit.Reading{Estimate: stats.Estimate{Null: &null}} // with the power to see anything
	lenses := audit.ArrayLenses()
	for mask := range 1 << len(callOrder) {
		var calls []audit.Call
		for k, c := range callOrder {
			if mask>>k&1 == 1 {
				calls = append(calls, c)
			}
		}
		var verdicts []Verdict
		for k, c := range calls { // each once, and then some again, of lenses at random
			verdicts = append(verdicts, Verdict{Lens: lenses[rng.IntN(len(lenses))], Layer: fmt.Sprint("layer ", k), Call: c, Reading: reading})
		}
		for k := range rng.IntN(4) * min(1, len(calls)) {
			verdicts = append(verdicts, Verdict{Lens: lenses[k], Call: calls[rng.IntN(len(calls))], Reading: reading})
		}
		rng.Shuffle(len(verdicts), func(i, j int) { verdicts[i], verdicts[j] = verdicts[j], verdicts[i] })
		h := headline("m", verdicts)
		checkHeadline(t, h, verdicts, calls)
		if t.Failed() {
			return
		}
	}
}

func checkHeadline(t *testing.T, h Headline, verdicts []Verdict, calls []audit.Call) {
	t.Helper()
	text := h.String()
	var got []audit.Call
	named := 0
	for _, c := range h.Groups {
		got = append(got, c.Call)
		if !strings.Contains(text, c.String()) {
			t.Errorf("%q does not say %q", text, c.String())
		}
		for _, m := range c.Families {
			named += len(m.Lenses)
			for _, name := range m.Lenses {
				if !slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Name() == name && v.Call == c.Call && v.family() == m.Family }) {
					t.Errorf("%q has %s of %s %s", text, name, m.Family, c.Call)
				}
			}
		}
	}
	if !slices.Equal(got, calls) || named != len(verdicts) {
		t.Errorf("%q names %v and %d lenses, want %v and %d", text, got, named, calls, len(verdicts))
	}
	if strings.Contains(strings.ToLower(text), "all ") != (len(calls) == 1) {
		t.Errorf("of %v it is said that %q", calls, text)
	}
	has := func(of ...audit.Call) bool {
		return slices.ContainsFunc(of, func(c audit.Call) bool { return slices.Contains(calls, c) })
	}
	memory, beyond, gone := has(audit.Remembered, audit.Backwards, audit.Between), has(audit.Beyond), has(audit.Forgotten)
	contradicts := false // a family that sees no memory
	for _, v := range verdicts {
		contradicts = contradicts || v.Call == audit.Forgotten &&
			!slices.ContainsFunc(verdicts, func(w Verdict) bool { return w.Memory() && w.family() == v.family() })
	}
	agree := memory && !beyond && !contradicts
	for answer, fits := range map[Answer]bool{
		StillRemembered: agree && has(audit.Remembered), SomeMemory: agree && !has(audit.Remembered), BothWays: memory && beyond,
		Disagree: memory && !beyond && contradicts, PushedAway: beyond && !memory, NoMemory: has(audit.Forgotten) && !memory && !beyond,
		NotShown: has(Unseen) && !has(audit.Forgotten) && !memory && !beyond, NoAnswer: !memory && !beyond && !gone && !has(Unseen),
	} {
		if (h.Answer == answer) != fits {
			t.Errorf("of %v the answer is %q", calls, h.Answer)
		}
	}
}

// The case that a reader complained of: three lenses on the same numbers, of which
// one says something else.
func TestLensesOfTheSameNumbersCountOnce(t *testing.T) {
	h := headline("unlearned", []Verdict{
		{Lens: audit.Loss{}, Call: audit.Remembered}, {Lens: audit.Threshold{}, Call: audit.Remembered},
		{Lens: audit.ModifiedEntropy{}, Call: audit.Between}, {Lens: audit.Neighbours{}, Call: audit.Remembered},
	})
	want := "unlearned: the records are still remembered. The verdicts are remembered by outputs (loss, loss threshold), representations (neighbours); " +
		"between by outputs (modified entropy)."
	if h.String() != want {
		t.Errorf("%q, want %q", h, want)
	}
	if n := len(h.Groups[0].Families); n != 2 {
		t.Errorf("%d families remember, want 2", n)
	}
}

func TestEveryLensHasAFamily(t *testing.T) {
	for _, j := range audit.ArrayLenses() {
		if j.Info().Family == "" {
			t.Errorf("%s has none", j.Name())
		}
	}
	for _, f := range TrackedLenses() {
		if f.Info().Family != audit.OutputFamily {
			t.Errorf("%s is of %s", f.Name(), f.Info().Family)
		}
	}
}

func TestTheReportHasTheHeadline(t *testing.T) {
	m := newFixture(61, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	r := audited(t, dir)
	var b bytes.Buffer
	must(t, r.JSON(&b))
	var out struct{ Headlines []Headline }
	must(t, json.Unmarshal(b.Bytes(), &out))
	if len(out.Headlines) != 1 || out.Headlines[0].String() != r.Headline("unlearned").String() || !strings.HasPrefix(r.Answers()[0], out.Headlines[0].String()) {
		t.Errorf("%+v, answers %q", out.Headlines, r.Answers())
	}
}

// Tables of models and reports of folders have one rule: for readings anywhere beside two
// ends, and for the ends exchanged, their calls are the same.
func TestTablesAndReportsCallAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	reading := func(model string, memory audit.Side, coordinates bool) audit.Reading {
		v := rng.NormFloat64()
		r := audit.Reading{
			Model: model, Memory: memory, Coordinates: coordinates,
			Estimate: stats.Estimate{Value: v, Low: v - 0.4*rng.Float64(), High: v + 0.4*rng.Float64(), N: 4 + rng.IntN(40), Over: "records"},
		}
		if rng.IntN(20) == 0 {
			r.NoEvidence = audit.Reason{Call: audit.CannotTell, Why: "tied"}
		}
		return r
	}
	seen := map[audit.Call]int{}
	for range 10000 {
		memory, coordinates := []audit.Side{audit.Above, audit.Below}[rng.IntN(2)], rng.IntN(4) == 0
		m, original, retrained := reading("m", memory, coordinates), reading("original", memory, coordinates), []audit.Reading(nil)
		for range 1 + rng.IntN(3) {
			retrained = append(retrained, reading("retrained", memory, coordinates))
		}
		v := Verdict{Lens: audit.Loss{}, Reading: m, Original: &original, Retrained: retrained}
		v.place()
		want := audit.CallBeside(audit.Loss{}, m, original, retrained...)
		if v.Call != want {
			t.Fatalf("%+v beside %+v and %+v: a report says %s, a table %s", m, original, retrained, v.Call, want)
		}
		seen[want]++
	}
	for _, c := range []audit.Call{audit.Remembered, audit.Between, audit.Forgotten, audit.Beyond, audit.Backwards, audit.Unclear, audit.Blind, audit.CannotTell, audit.TooFew} {
		if seen[c] < 20 {
			t.Errorf("%s occurs %d times", c, seen[c])
		}
	}
}

// Every call of an audit has a mark and a colour in its table.
func TestEveryCallOfAnAuditIsKnownAsAVerdict(t *testing.T) {
	for _, call := range callOrder {
		if !report.IsVerdict(string(call)) {
			t.Errorf("%q has no mark: add it to report's verdicts", call)
		}
	}
	for _, call := range []audit.Call{Unseen, Unmoved, Moved, Unplaced} {
		if !slices.Contains(callOrder, call) {
			t.Errorf("%q is not in the order of calls", call)
		}
	}
}
