package judge

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
)

// published returns the numbers of a metric by model.
func published(e *Evidence, metric string) map[string]publishedNumber {
	out := map[string]publishedNumber{}
	for _, n := range e.publishedNumbers() {
		if strings.HasPrefix(n.Metric, metric) {
			out[n.Model] = n
		}
	}
	return out
}

// minK40 is the mean of the two fifths of a text's tokens that have the lowest log-probability.
func minK40(m *Model, text int) float64 {
	x := slices.Sorted(slices.Values(m.Tokens.LogProb[m.Tokens.Offset[text]:m.Tokens.Offset[text+1]]))
	lowest, sum := x[:max(1, int(0.4*float64(len(x))))], 0.0
	for _, v := range lowest {
		sum += v
	}
	return sum / float64(len(lowest))
}

// share is the share of pairs of a forgotten and a held-out text of which the forgotten one scores higher.
func share(e *Evidence, m *Model) float64 {
	above := 0.0
	for _, f := range e.Forget {
		for _, h := range e.HeldOut {
			if minK40(m, f) > minK40(m, h) {
				above++
			}
		}
	}
	return above / float64(len(e.Forget)*len(e.HeldOut))
}

func TestPublishedNumbersAreThoseOfTheirFormulas(t *testing.T) {
	e, err := Open(writeTexts(t, true))
	if err != nil {
		t.Fatal(err)
	}
	reference := e.ModelsOf(Retrained)[0]
	at := share(e, reference)
	for _, m := range []*Model{e.ModelsOf(Unlearned)[0], e.ModelsOf(Original)[0], e.ModelsOf(Retrained)[1]} {
		mine := share(e, m)
		for metric, want := range map[string]float64{"PrivLeak": 100 * (at - mine) / (1 - at), "s_MIA": max(0, 1-math.Abs(mine-at)/at)} {
			n := published(e, metric)[m.Name]
			if n.Value == nil || math.Abs(*n.Value-want) > 1e-9 || n.Retrained != reference.Name || n.Wrong == "" {
				t.Errorf("%s of %s: %+v, want %v", metric, m.Name, n, want)
			}
		}
		probability := 0.0
		for _, i := range e.Retain {
			probability += math.Exp(-m.Losses[i]) / float64(len(e.Retain))
		}
		if n := published(e, "utility: retained, probability")[m.Name]; n.Value == nil || math.Abs(*n.Value-probability) > 1e-12 || n.Retrained != "" {
			t.Errorf("%s: %+v, want %v", m.Name, n, probability)
		}
	}
	p := published(e, "forget quality")
	if len(p) != 3 || *p["original"].Value > 1e-4 || *p["retrained-2"].Value < 0.05 || *p["unlearned"].Value < 0.05 {
		t.Errorf("%v, %v, %v", *p["original"].Value, *p["retrained-2"].Value, *p["unlearned"].Value)
	}
	if known := published(e, "utility: retained, mean of max"); *known["original"].Value < 0.2 || *known["original"].Value > 1 {
		t.Errorf("%v", known)
	}
}

func TestWithoutARetrainedModelPublishedComparisonsHaveNoNumber(t *testing.T) {
	dir := writeTexts(t, false)
	for _, name := range []string{"retrained-1", "retrained-2"} {
		must(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for metric, compared := range map[string]bool{"forget quality": true, "PrivLeak": true, "s_MIA": true, "truth ratio": false, "utility: retained, p": false} {
		if n := published(e, metric)["unlearned"]; (n.Value == nil) != compared || compared && n.Missing != "needs a retrained model" {
			t.Errorf("%s: %+v", metric, n)
		}
	}
}

// Papers compare the orders of magnitude of small p.
func TestSmallPublishedNumbersHaveTheirOrderOfMagnitude(t *testing.T) {
	for v, want := range map[float64]string{5.12e-17: "5.1e-17", 0.00049: "4.9e-04", 0.0005: "0.001", 0.25: "0.250", 0: "0.000", -12.5: "−12.500", -2e-5: "−2.0e-05"} {
		if c := publishedCell(v); c.Text != want || c.Value == nil || *c.Value != v {
			t.Errorf("%v is printed as %q", v, c.Text)
		}
	}
	if c := publishedCell(math.NaN()); c.Value != nil {
		t.Errorf("NaN: %+v", c)
	}
	e, err := Open(writeTexts(t, true))
	must(t, err)
	for _, row := range e.publishedParts()[0].(*report.Table).Rows {
		if row.Cells[0].Text == "forget quality (KS p)" && row.Cells[1].Text == "original" && !strings.Contains(row.Cells[3].Text, "e-") {
			t.Errorf("the original's p: %q", row.Cells[3].Text)
		}
	}
}

// The annex stands in the report as what it is, in the page and in JSON; a report of no language model
// has none.
func TestTheReportHasPublishedNumbersOfLanguageModelsAlone(t *testing.T) {
	plain, m := t.TempDir(), newFixture(7, 30, 60, 60)
	m.write(t, plain, func(int) bool { return true }, 0)
	for dir, want := range map[string]bool{writeTexts(t, true): true, plain: false} {
		r := audited(t, dir)
		var b bytes.Buffer
		must(t, r.JSON(&b))
		var got struct {
			Published []map[string]any `json:"published"`
		}
		must(t, json.Unmarshal(b.Bytes(), &got))
		page, err := r.Page()
		if err != nil {
			t.Fatal(err)
		}
		has := false
		for _, s := range page.Sections {
			has = has || s.Title == "Numbers as published, not a verdict" && len(s.Parts) == 2
		}
		if has != want || (len(got.Published) == 18) != want || !want && got.Published != nil {
			t.Errorf("section %t, %d numbers; want %t", has, len(got.Published), want)
		}
	}
}
