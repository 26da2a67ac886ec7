// What every reading must have, whatever it reads: fields, a known unit, and scores of single records.

package lenstest

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// watched is a lens under test. A fault of a field, which every reading would have, is said once.
type watched struct {
	audit.Lens
	said map[string]bool
}

func watch(lens audit.Lens) audit.Lens { return watched{lens, map[string]bool{}} }

// say fails a test for a kind of fault, unless that was said of the lens before.
func say(t *testing.T, lens audit.Lens, kind, format string, args ...any) {
	t.Helper()
	w, is := lens.(watched)
	if is && w.said[kind] {
		return
	}
	if is {
		w.said[kind] = true
	}
	t.Errorf(format, args...)
}

// checkReading checks the fields that every reading has.
func checkReading(t *testing.T, lens audit.Lens, model string, r *audit.Reading) {
	t.Helper()
	if r.Lens != lens.Name() || r.Model != model {
		say(t, lens, "names", "the reading says lens %q, model %q, expected %q and %q", r.Lens, r.Model, lens.Name(), model)
	}
	if r.Memory != audit.Above && r.Memory != audit.Below {
		say(t, lens, "side", "memory is on side %d of the null", r.Memory)
	}
	const ulps = 1e-12 // Wilson's interval of a share of 1 ends a little below it
	if !(r.Low <= r.Value+ulps && r.Value <= r.High+ulps) || !(r.Level > 0 && r.Level < 1) || r.N < 1 || r.Over == "" {
		say(t, lens, "interval", "the reading %+v has no interval or says not what it is over", *r)
	} else {
		checkUnit(t, lens, r)
	}
	for _, v := range []float64{r.Floor.Mean, r.Floor.P95} {
		if !math.IsNaN(v) && !(v > 0) {
			say(t, lens, "floor", "the chance floor is %+v, expected NaN or positive numbers", r.Floor)
		}
	}
	of := lens.Info()
	if r.Null != nil && *r.Null == 0.5 && (of.Low != 0 || of.High != 1) {
		say(t, lens, "bounds", "a value whose null is one half has no bounds 0 and 1 (Info.High)")
	}
	if !(of.Low == 0 && of.High == 0) && (r.Value < of.Low || r.Value > of.High) {
		say(t, lens, "beyond bounds", "the value %v is outside [%v, %v] (Info.Low, Info.High)", r.Value, of.Low, of.High)
	}
	if r.Null == nil && of.Null == audit.NonmemberNull {
		say(t, lens, "null", "models that never had the records lie at the null, and there is none")
	}
}

// checkUnit refuses an interval over something that no reader of a report knows: coverage is checked by what
// the unit is.
func checkUnit(t *testing.T, lens audit.Lens, r *audit.Reading) {
	t.Helper()
	known := overRecords(r) || r.Clustered != nil || slices.Contains([]string{stats.OverSubsets, stats.OverDraws}, r.Over)
	switch {
	case r.Over == stats.OverModels && lens.Info().Needs.Peers < 2:
		say(t, lens, "unit", "the interval is over models, and one model is read (Needs.Peers)")
	case r.Over != stats.OverModels && !known:
		say(t, lens, "unit", "the interval is over %q: no unit is called so. Units are \"records\", some that are named (\"triggered records\"), %q, "+
			"%q, and groups (Evidence.Units, with Clustered)", r.Over, stats.OverSubsets, stats.OverDraws)
	}
}

// overRecords reports whether an interval is over independent records, so that it can be expected to cover.
func overRecords(r *audit.Reading) bool {
	return r.Over == "records" || strings.HasSuffix(r.Over, " records")
}

// readArrays reads a model of evidence.
func readArrays(t *testing.T, lens audit.Lens, e *audit.Evidence, m *audit.Arrays) audit.Reading {
	t.Helper()
	r, err := e.ReadBy(lens, m)
	if err != nil {
		t.Fatal(err)
	}
	checkReading(t, lens, m.Name, r)
	return *r
}

// checkScores checks the scores of single records (Info.PerRecord) where a model remembers the forgotten records,
// and where it remembers the held-out ones. They are what a report names records by.
func checkScores(t *testing.T, lens audit.Lens, straight, exchanged *audit.Evidence) {
	t.Helper()
	if !lens.Info().PerRecord {
		if r := readArrays(t, lens, straight, straight.Models[0]); r.Scores != nil {
			t.Error("the reading has Scores, and Info.PerRecord does not say so")
		}
		return
	}
	for _, e := range []*audit.Evidence{straight, exchanged} {
		r := readArrays(t, lens, e, e.Models[0])
		if why := scoresFault(e, r); why != "" {
			t.Error(why)
			return
		}
		auc, err := stats.DeLong(r.Scores.Forget.Values, r.Scores.HeldOut.Values, 0.95)
		if err != nil {
			t.Error(err)
			return
		}
		reads := float64(r.Memory) * (r.Value - *r.Null)
		if reads*(auc.Value-0.5) <= 0 {
			t.Errorf("the reading %.3f, null %.3f, and its scores disagree on which records look like members: their AUC is %.3f, and scores are "+
				"higher for members", r.Value, *r.Null, auc.Value)
		}
	}
}

// scoresFault says what is wrong with the scores of a reading; empty: nothing.
func scoresFault(e *audit.Evidence, r audit.Reading) string {
	switch {
	case r.Scores == nil:
		return "Info.PerRecord says that there are Scores, and the reading has none"
	case r.Null == nil:
		return "a lens that scores records (Info.PerRecord) has no null"
	case len(r.Scores.Forget.Rows) != len(e.Forget):
		return fmt.Sprintf("Scores.Forget has %d records, and %d are to be forgotten", len(r.Scores.Forget.Rows), len(e.Forget))
	case len(r.Scores.HeldOut.Rows) == 0:
		return "Scores.HeldOut has no record"
	}
	for _, part := range []struct {
		name string
		s    audit.Scored
		set  []int
	}{{"Forget", r.Scores.Forget, e.Forget}, {"HeldOut", r.Scores.HeldOut, e.HeldOut}} {
		if len(part.s.Rows) != len(part.s.Values) {
			return fmt.Sprintf("Scores.%s has %d records and %d values", part.name, len(part.s.Rows), len(part.s.Values))
		}
		seen := map[int]bool{}
		for k, i := range part.s.Rows {
			if !slices.Contains(part.set, i) || seen[i] {
				return fmt.Sprintf("Scores.%s: record %d is there twice, or in another set of the evidence", part.name, i)
			}
			if seen[i] = true; math.IsNaN(part.s.Values[k]) || math.IsInf(part.s.Values[k], 0) {
				return fmt.Sprintf("Scores.%s: the score of record %d is %v", part.name, i, part.s.Values[k])
			}
		}
	}
	return ""
}

// checkUnchanged reads a model twice on the same evidence, whose arrays must be left alone: the next lens reads them.
func checkUnchanged(t *testing.T, lens audit.Lens, e *audit.Evidence) {
	t.Helper()
	before := evidenceFingerprints(t, e)
	first := readArrays(t, lens, e, e.Models[0])
	for k, now := range evidenceFingerprints(t, e) {
		if now != before[k] {
			t.Errorf("the lens wrote to %s", strings.Fields(now)[0])
		}
	}
	if again := readArrays(t, lens, e, e.Models[0]); again.Value != first.Value || again.Low != first.Low || again.High != first.High {
		t.Errorf("the same model gives %v and %v", first.Estimate, again.Estimate)
	}
}

// evidenceFingerprints prints everything that a lens is given, a text for each field, which begins with the field's name.
func evidenceFingerprints(t *testing.T, e *audit.Evidence) []string {
	t.Helper()
	out := []string{
		fmt.Sprint("e.Labels ", e.Labels), fmt.Sprint("e.Forget ", e.Forget), fmt.Sprint("e.Retain ", e.Retain), fmt.Sprint("e.HeldOut ", e.HeldOut),
		fmt.Sprint("e.Groups ", e.Groups), fmt.Sprint("e.Compressed ", e.Compressed), fmt.Sprint("e.Texts ", e.Texts),
		fmt.Sprint("e.Inputs ", matrixText(t, e.Inputs)), fmt.Sprint("e's-numbers ", e.Records, e.Classes, e.Seed, len(e.Models), e.GroupUnit),
	}
	for k, m := range e.Models {
		field := func(name string, v any) { out = append(out, fmt.Sprintf("e.Models[%d].%s %v", k, name, v)) }
		field("Name", m.Name+string(m.Role))
		field("Losses", m.Losses)
		field("Scaled", m.Scaled)
		field("Correct", m.Correct)
		field("In", m.In)
		field("OutputKeys", m.OutputKeys)
		field("Outputs", matrixText(t, m.Outputs))
		field("Embedding", matrixText(t, m.Embedding))
		field("Patched", matrixText(t, m.Patched))
		for _, tokens := range []any{m.Tokens, m.Prefixed, m.Answers} {
			field("Tokens,Prefixed,Answers", fmt.Sprintf("%+v", tokens))
		}
	}
	return out
}

func matrixText(t *testing.T, m audit.Matrix) string {
	t.Helper()
	if m == nil {
		return "none"
	}
	x, err := m.Read()
	if err != nil {
		t.Fatal(err)
	}
	rows, cols := x.Shape()
	buffer := make([]float64, cols)
	var out strings.Builder
	for i := range rows {
		fmt.Fprint(&out, x.Read(buffer, i))
	}
	return out.String()
}
