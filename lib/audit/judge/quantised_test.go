package judge

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
)

// A copy of 4 bits that remembers what the unlearned model has forgotten is named; one of 8 bits that
// has forgotten too is not, and the headline is that of the unlearned model.
func TestAQuantisedCopyThatRemembersIsNamed(t *testing.T) {
	m := newFixture(91, 60, 120, 120)
	dir := t.TempDir()
	m.write(t, dir, m.retained, 0)
	alone := audited(t, dir)
	if alone.quantisedParts() != nil || alone.quantisedBrief() != "" || len(alone.QuantisedSentences()) > 0 {
		t.Error("a report without copies speaks of them")
	}
	m.model(t, filepath.Join(dir, "quantised-int8"), m.retained)
	m.model(t, filepath.Join(dir, "quantised-int4"), m.all)
	r := audited(t, dir)
	if a, b := alone.Headline("unlearned"), r.Headline("unlearned"); a.String() != b.String() {
		t.Errorf("%s\n%s", a, b)
	}
	returns := map[string]int{}
	for _, q := range r.Quantised {
		if want := map[string]audit.Call{"quantised-int4": audit.Remembered, "quantised-int8": audit.Forgotten}[q.Reading.Model]; q.Lens.Name() == "loss" && q.Call != want {
			t.Errorf("%s is %s, want %s", q.Reading.Model, q.Call, want)
		}
		if q.Unlearned.Reading.Model != "unlearned" || q.Unlearned.Lens.Name() != q.Lens.Name() {
			t.Errorf("%s is beside %s of %s", q.Name(), q.Unlearned.Name(), q.Unlearned.Reading.Model)
		}
		if q.MemoryReturns() {
			returns[q.Reading.Model]++
		}
	}
	if len(r.Quantised) != 2*len(r.Verdicts) || returns["quantised-int4"] < 3 || returns["quantised-int8"] > 1 {
		t.Errorf("%d verdicts, %v", len(r.Quantised), returns)
	}
	text := strings.Join(r.QuantisedSentences(), "\n")
	if !strings.Contains(text, "quantised-int4: rounding the weights brings memory back, by loss (remembered, the unlearned model forgotten)") {
		t.Errorf("%s", text)
	}
	if s := r.quantisedBrief(); !strings.Contains(s, "quantised-int4") {
		t.Errorf("the summary says %q", s)
	}
	var b, md bytes.Buffer
	must(t, r.JSON(&b))
	var out struct {
		Quantised []struct {
			Model   string
			Returns bool `json:"memory_returns"`
		}
	}
	must(t, json.Unmarshal(b.Bytes(), &out))
	if len(out.Quantised) != len(r.Quantised) {
		t.Errorf("%d in the JSON form", len(out.Quantised))
	}
	p, err := r.Page()
	must(t, err)
	must(t, p.Markdown(&md))
	if !strings.Contains(md.String(), "The unlearned model and its quantised copies") {
		t.Error("the page has no table of the copies")
	}
}

// What the unlearned model remembers itself is not brought back.
func TestWhatIsRememberedDoesNotReturn(t *testing.T) {
	for _, c := range []struct {
		unlearned, copied audit.Call
		want              bool
	}{
		{audit.Forgotten, audit.Remembered, true}, {audit.Forgotten, audit.Between, true}, {audit.Remembered, audit.Remembered, false},
		{audit.Between, audit.Remembered, false}, {audit.Forgotten, audit.Forgotten, false}, {audit.Remembered, audit.Forgotten, false},
	} {
		q := QuantisedVerdict{Verdict{Call: c.copied}, Verdict{Call: c.unlearned}}
		if q.MemoryReturns() != c.want {
			t.Errorf("%s in a copy of a model that is %s: %v", c.copied, c.unlearned, !c.want)
		}
	}
}

// Of which of two unlearned models a copy is, nothing says.
func TestAQuantisedCopyNeedsOneUnlearnedModel(t *testing.T) {
	m := newFixture(92, 20, 40, 40)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	m.model(t, filepath.Join(dir, "unlearned-b"), m.all)
	m.model(t, filepath.Join(dir, "quantised-int8"), m.all)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "there are 2 (unlearned, unlearned-b)") {
		t.Errorf("%v", err)
	}
}

// A memory that stands in a copy, and is no more than chance in the unlearned model, is said; and so is one that is no
// more than chance in the copy.
func TestMemoriesByChanceInCopiesAreSaid(t *testing.T) {
	verdict := func(model string, call audit.Call, weak bool) Verdict {
		return Verdict{Lens: audit.Loss{}, Reading: audit.Reading{Model: model}, Call: call, Weak: weak}
	}
	for want, q := range map[string]QuantisedVerdict{
		"the memory that loss see in a copy stands": {verdict("int8", audit.Remembered, false), verdict("unlearned", audit.Remembered, true)},
		", or no more than chance alone shows":      {verdict("int8", audit.Remembered, true), verdict("unlearned", audit.Forgotten, false)},
		"":                                          {verdict("int8", audit.Remembered, false), verdict("unlearned", audit.Remembered, false)},
	} {
		if got := orByChance([]QuantisedVerdict{q}); !strings.Contains(got, want) || (got == "") != (want == "") || q.StandsInCopy() != strings.Contains(want, "stands") {
			t.Errorf("%q, want %q", got, want)
		}
	}
	r := &Report{Evidence: &Evidence{}, Verdicts: []Verdict{verdict("unlearned", audit.Remembered, false)}}
	r.Evidence.Models = []*Model{{Name: "unlearned", Role: Unlearned}, {Name: "int8", Role: Quantised}}
	r.Quantised = []QuantisedVerdict{{verdict("int8", audit.Forgotten, false), verdict("unlearned", audit.Remembered, false)}}
	r.markWeak() // a reading without an interval stands at no coverage
	if !r.Verdicts[0].Weak || !r.Quantised[0].Unlearned.Weak {
		t.Errorf("%v, and beside the copy %v", r.Verdicts[0].Weak, r.Quantised[0].Unlearned.Weak)
	}
}
