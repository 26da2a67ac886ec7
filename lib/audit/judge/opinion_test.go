package judge

import (
	"strings"
	"testing"
)

// The annex names the lenses that were used with their verdicts, what was not tested, and what it is not.
func TestTheAnnexSaysWhatWasTestedAndWhatNot(t *testing.T) {
	m := newFixture(501, 40, 80, 80)
	dir := t.TempDir()
	m.write(t, dir, m.all, 0)
	classifier, texts := audited(t, dir), audited(t, writeTexts(t, true))
	row := func(r *Report, asks string) string {
		for _, one := range r.opinionRows() {
			if strings.Contains(strings.ToLower(one.asks), asks) {
				return one.tested
			}
		}
		t.Fatalf("no row of %q", asks)
		return ""
	}
	for _, c := range []struct {
		r    *Report
		asks string
		want []string
	}{
		{classifier, "membership", []string{"Tested on the forgotten records.", "loss: remembered", "Not used, for lack of arrays: lira"}},
		{classifier, "regurgitation", []string{"Not tested: no such lens"}},
		{texts, "membership", []string{"min-k: forgotten"}},
		{texts, "regurgitation", []string{"extraction strength: forgotten", "exact memorisation: forgotten"}},
		{texts, "attribute", []string{"Not tested"}}, {texts, "model inversion", []string{"Not tested"}}, {texts, "reconstruction", []string{"Not tested"}},
		{texts, "that personal data", []string{"40 forgotten records alone"}},
		{classifier, "scope", []string{"9 tests, on 1 unlearned model, with 2 retrained models to compare, 40 forgotten records, 80 held-out records; once"}},
	} {
		for _, want := range c.want {
			if got := row(c.r, c.asks); !strings.Contains(got, want) {
				t.Errorf("%s: %q does not say %q", c.asks, got, want)
			}
		}
	}
	p, err := classifier.Page()
	must(t, err)
	var b strings.Builder
	must(t, p.Markdown(&b))
	for _, want := range []string{"no legal advice", "no proof", "case by case", "28/2024", "17 December 2024"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
