package judge

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/stats"
)

// powered is a verdict without a memory of an AUC, between an original and a retrained model.
func powered(call audit.Call, original, smallest float64) Verdict {
	null := 0.5
	reading := func(v float64) audit.Reading {
		return audit.Reading{Memory: audit.Above, Estimate: stats.Estimate{Value: v, Low: v - 0.01, High: v + 0.01, Null: &null, N: 100, Over: "records"}}
	}
	v := Verdict{Lens: audit.Loss{}, Call: call, Reading: reading(0.5), Retrained: []audit.Reading{reading(0.5)}, Smallest: smallest}
	if !math.IsNaN(original) {
		o := reading(original)
		v.Original = &o
	}
	return v
}

// No memory is said to be seen only where one as large as the original's, or of the stated size, would be.
func TestTheHeadlineIsRefusedWithoutPower(t *testing.T) {
	none := math.NaN()
	other := powered(Unseen, none, 0.01)
	other.Reading.Null = nil         // on a scale of its own
	ofLens := func(l Lens) Verdict { // 1.14 times as much is needed among three
		v := powered(audit.Forgotten, 0.7, 0.19)
		v.Lens = l
		return v
	}
	tooFew := func(l Lens) Verdict {
		v := ofLens(l)
		v.Call = audit.TooFew
		return v
	}
	for name, c := range map[string]struct {
		verdicts []Verdict
		want     Answer
	}{
		"enough":                        {[]Verdict{powered(audit.Forgotten, 0.7, 0.15)}, NoMemory},
		"too little":                    {[]Verdict{powered(audit.Forgotten, 0.6, 0.15)}, NoPower},
		"one of two is enough":          {[]Verdict{powered(audit.Forgotten, 0.6, 0.15), powered(audit.Forgotten, 0.7, 0.15)}, NoMemory},
		"the blind lens does not count": {[]Verdict{powered(audit.Forgotten, 0.6, 0.15), powered(audit.Blind, 0.9, 0.01)}, NoPower},
		"no original, enough":           {[]Verdict{powered(Unseen, none, 0.09)}, NotShown},
		"no original, too little":       {[]Verdict{powered(Unseen, none, 0.12)}, NoPower},
		"no original, no stated size":   {[]Verdict{other}, NoPower},
		"power not known":               {[]Verdict{powered(audit.Forgotten, 0.9, none)}, NoPower},
		"a memory needs none":           {[]Verdict{powered(audit.Remembered, 0.6, 0.3)}, StillRemembered},
		"enough for one family":         {[]Verdict{ofLens(audit.Loss{}), ofLens(audit.Threshold{})}, NoMemory},
		"too little among three":        {[]Verdict{ofLens(audit.Loss{}), ofLens(audit.Neighbours{}), ofLens(audit.Subsets{})}, NoPower},
		"blind families do not count":   {[]Verdict{ofLens(audit.Loss{}), tooFew(audit.Neighbours{}), tooFew(audit.Subsets{})}, NoMemory},
		"nor does what was pushed away": {[]Verdict{powered(audit.Beyond, 0.6, 0.3)}, PushedAway},
	} {
		if h := headline("m", c.verdicts); h.Answer != c.want {
			t.Errorf("%s: %q, want %q", name, h.Answer, c.want)
		}
	}
}

// A folder with few records and a weak memory is not called forgotten, and the summary says how large a
// memory would have been seen.
func TestASmallFolderWithAWeakMemoryCannotTell(t *testing.T) {
	refused := 0
	for seed := range uint64(12) {
		m := newFixture(300+seed, 14, 60, 30)
		m.memory = 1.8
		dir := t.TempDir()
		m.write(t, dir, m.retained, 0)
		e, err := Open(dir)
		must(t, err)
		r, err := e.ReportBy(t.Context(), audit.Loss{})
		must(t, err)
		v := r.verdict(t, "loss")
		a := r.Headline("unlearned").Answer
		if a == NoMemory && v.Smallest > math.Abs(v.Original.Value-v.reference().Value) {
			t.Errorf("seed %d: %s with %v", seed, a, v.Smallest)
		}
		if a != NoPower {
			continue
		}
		refused++
		text := r.confidenceText("unlearned")
		if !strings.Contains(text, "the original's memory is") || !strings.Contains(r.headline(e.ModelsOf(Unlearned)[0]), "cannot tell") {
			t.Errorf("seed %d: %s, %s", seed, r.headline(e.ModelsOf(Unlearned)[0]), text)
		}
	}
	if refused == 0 {
		t.Error("no folder was refused")
	}
}

// Everything that led to no verdict is listed with its reason.
func TestWhatWasNotJudgedIsListed(t *testing.T) {
	m := newFixture(311, 40, 80, 80)
	m.memory = 0 // the original is like a retrained model
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	r := audited(t, dir)
	text := strings.Join(r.NotJudged(), "\n")
	for _, want := range []string{"lira: needs 4 shadow models", "loss, unlearned: blind.", "copies of forgotten records", "blind attack"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
