package tofu

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/figures"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tolerance)
	}
}

func TestWithoutTheLogsEveryTableSaysWhereTheyComeFrom(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	for _, r := range Paper().Recipes {
		_, err := r.Run(t.Context(), &paper.Env{}, "quick")
		if !errors.Is(err, datasets.ErrMissing) || !strings.Contains(err.Error(), "lethe data get tofu_logs") ||
			!strings.Contains(err.Error(), filepath.Join(dir, "tofu_logs")) || !strings.HasPrefix(err.Error(), r.ID) {
			t.Errorf("%s: %v", r.ID, err)
		}
	}
}

// needLogs skips the test without the published logs.
func needLogs(t *testing.T) {
	t.Helper()
	datatest.Dir(t)
	if !logs.Published().Present() {
		t.Skip("no published logs in the data folder")
	}
}

// quickTables are made once for all tests, which do not change them.
var quickTables = map[string]*report.Table{}

func tableOf(t *testing.T, r paper.Recipe) *report.Table {
	t.Helper()
	if quickTables[r.ID] == nil {
		out, err := r.Run(t.Context(), &paper.Env{}, "quick")
		if err != nil {
			t.Fatal(err)
		}
		quickTables[r.ID] = out.Table
	}
	return quickTables[r.ID]
}

// The committed tables are those that the recipes make of the logs. The power of forget quality, which
// takes minutes at the committed scale, is left out.
func TestCommittedTablesAreThoseOfTheLogs(t *testing.T) {
	needLogs(t)
	for _, r := range Paper().Recipes {
		committed, err := paper.Committed(figures.Files, r.ID)
		if err != nil {
			t.Fatal(err)
		}
		again := tableOf(t, r)
		if committed.Provenance.Scale != "paper" || committed.Provenance.DataHash() != again.Provenance.DataHash() || len(committed.Rows) != len(again.Rows) {
			t.Errorf("%s: scale %s, data %s, %d rows; now data %s, %d rows", r.ID, committed.Provenance.Scale, committed.Provenance.DataHash(),
				len(committed.Rows), again.Provenance.DataHash(), len(again.Rows))
			continue
		}
		if r.ID == qualityID {
			committed, again = withoutPower(committed), withoutPower(again)
		}
		if want, got := cellsOf(t, committed), cellsOf(t, again); got != want {
			t.Errorf("%s is not what the logs give:\n%s", r.ID, firstDifference(want, got))
		}
	}
}

func withoutPower(t *report.Table) *report.Table {
	out, keep := *t, len(t.Columns)-2
	out.Columns, out.Rows = t.Columns[:keep], slices.Clone(t.Rows)
	for i, r := range t.Rows {
		out.Rows[i].Cells = r.Cells[:keep]
	}
	return &out
}

// cellsOf is the table as JSON, without what depends on the scale.
func cellsOf(t *testing.T, table *report.Table) string {
	t.Helper()
	part := *table
	part.Title, part.Notes, part.Provenance = "", nil, report.Provenance{}
	var b bytes.Buffer
	if err := part.JSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func firstDifference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: committed %s, now %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines committed, now %d", len(a), len(b))
}

func number(t *testing.T, table *report.Table, column, group string, begins ...string) float64 {
	t.Helper()
	v, err := paper.Number(table, column, group, begins...)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// NumPy 2.4.6 and SciPy 1.17.1 on the same logs, as in package language's tests.
func TestUtilitiesAreTheProgramsOwn(t *testing.T) {
	needLogs(t)
	table := tableOf(t, utilityTable())
	for _, c := range []struct {
		model, log, form string
		want             float64
	}{
		{"Llama-2-7B", "full (wd 0.01)", "geometric", 0.6227}, {"Llama-2-7B", "full (wd 0.01)", "arithmetic", 0.5859},
		{"Llama-2-7B", "retain90 (wd 0.01)", "geometric", 0.6137}, {"Phi-1.5", "full (wd 0)", "geometric", 0.5216},
		{"Llama-2-7B", "full less retain90 (wd 0.01)", "geometric", 0.0090}, {"Llama-2-7B", "full (wd 0.01)", "geometric less arithmetic", 0.0368},
	} {
		near(t, c.log+" "+c.form, number(t, table, "model utility", c.model, c.log, c.form), c.want, 1.1e-4)
	}
}

// SciPy 1.17.1's kendalltau over the 150 unlearned models, and the study's own numbers to two digits.
func TestRanksAreScipys(t *testing.T) {
	needLogs(t)
	table := tableOf(t, ranksTable())
	for lens, want := range map[string]float64{
		"1 - extraction strength": 0.8301, "1 - exact memorisation": 0.8212, "1 - truth ratio": 0.7630, "s_MIA Min-K++": 0.4211, "utility": -0.3894,
	} {
		near(t, lens, number(t, table, "tau, over models", "with UDS", lens), want, 5.1e-5)
		near(t, lens, number(t, table, "tau, over methods", "with UDS", lens), want, 5.1e-5)
	}
	near(t, "within a setting", number(t, table, "within a setting", "with UDS", "s_MIA loss"), 0.2558, 5e-4) // 86 pairs, counted in NumPy
	if len(table.Rows) != len(lenses)*(len(lenses)-1)/2 {
		t.Errorf("%d rows", len(table.Rows))
	}
}

// Two retrained models pass the published test, which misses a fifth of memory; and no p of pairs is a
// verdict.
func TestForgetQualityOfTheLogs(t *testing.T) {
	needLogs(t)
	table := tableOf(t, qualityTable())
	for _, c := range []struct {
		group, row, column string
		want               float64
	}{
		{"Phi-1.5, against retain90 (wd 0.01)", "retain90 (wd 0)", "p, as published", 0.99999999},
		{"Phi-1.5, against retain90 (wd 0.01)", "retain90 (wd 0)", "sign-flip p, uncalibrated", 0.0263671875},
		{"Phi-1.5, against retain90 (wd 0.01)", "numbers, not a model: 20 % of full (wd 0) in retain90 (wd 0)", "p, as published", 0.1212},
		{"Llama-2-7B, against retain90 (wd 0)", "numbers, not a model: 20 % of full (wd 0.01) in retain90 (wd 0.01)", "p, as published", 0.0658},
	} {
		cell, err := paper.CellAt(table, c.column, c.group, c.row)
		if err != nil || cell.P == nil {
			t.Fatalf("%s: %v, %+v", c.row, err, cell)
		}
		near(t, c.row+", "+c.column, *cell.P, c.want, 5.1e-5)
	}
	for _, r := range table.Rows {
		if verdict := r.Cells[8]; table.Columns[8].Name != "verdict" || !strings.HasPrefix(verdict.Text, "none: ") || verdict.P != nil {
			t.Errorf("%s, %s: %+v", r.Group, r.Cells[0].Text, verdict)
		}
	}
}

// made is a log in memory: n questions a set, 20 about each author.
func made(n int, shift float64) run {
	set := func(k int) logs.TOFUSet {
		var s logs.TOFUSet
		for q := range n {
			loss := 0.5 + shift + 0.3*math.Sin(float64(3*q+k))
			s.True, s.Paraphrase = append(s.True, loss), append(s.Paraphrase, loss+0.1)
			s.Wrong = append(s.Wrong, []float64{loss + 0.5 + 0.1*float64(k), loss + 1 + 0.2*math.Cos(float64(q))})
			s.ROUGEL = append(s.ROUGEL, 0.5+0.4*math.Sin(float64(q+k)))
		}
		return s
	}
	return run{model: "Phi-1.5", people: full, decay: "0", TOFU: &logs.TOFU{Forget: set(0), Retain: set(1), Authors: set(2), Facts: set(3)}}
}

func TestSelectedQuestionsAreThoseOfTheirSet(t *testing.T) {
	r := made(40, 0)
	k, err := r.knowledge()
	if err != nil {
		t.Fatal(err)
	}
	if k.questions() != 120 || k.clusters.Count(120) != 2+80 || k.clusters[39] != 1 {
		t.Errorf("%d questions in %d clusters", k.questions(), k.clusters.Count(120))
	}
	e := k.selected([]int{3, 41, 119})
	for name, pair := range map[string][2]float64{
		"retain": {e.Retain.True[0], -r.Retain.True[3]}, "authors": {e.Authors.ROUGE[0], r.Authors.ROUGEL[1]}, "facts": {e.Facts.Answers.Wrong[0][1], -r.Facts.Wrong[39][1]},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if len(e.Retain.True)+len(e.Authors.True)+len(e.Facts.True) != 3 {
		t.Errorf("%+v", e)
	}
}

// The third form replaces the three truth ratios and nothing else.
func TestUtilityOfTheThirdForm(t *testing.T) {
	k, err := made(20, 0).knowledge()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, k.questions())
	for i := range all {
		all[i] = i
	}
	e := k.selected(all)
	v, err := utility(e, language.ProbMean)
	if err != nil {
		t.Fatal(err)
	}
	geometric, err := utility(e, language.Geometric)
	if err != nil {
		t.Fatal(err)
	}
	sum, mean := 0.0, 0.0
	for q := range 20 { // 1/(1 + R) of the retained questions
		a := e.Retain.Answers
		mean += 1 / (1 + math.Exp((a.Wrong[q][0]+a.Wrong[q][1])/2-a.Right[q])) / 20
	}
	near(t, "truth", v.Retain.Truth, mean, 1e-12)
	for _, part := range nine(v) {
		sum += 1 / part
	}
	near(t, "harmonic mean", v.Value, 9/sum, 1e-12)
	if v.Form != language.ProbMean || v.Retain.Probability != geometric.Retain.Probability || v.Facts.ROUGE != geometric.Facts.ROUGE || v.Facts.Truth == geometric.Facts.Truth {
		t.Errorf("%+v, geometric %+v", v, geometric)
	}
}

func TestMixedNumbersAreNamedAndMixed(t *testing.T) {
	c := comparison{model: "Phi-1.5", full: run{people: full, decay: "0"}, other: run{people: retain90, decay: "0"}, reference: run{people: retain90, decay: "0.01"},
		PowerEvidence: language.PowerEvidence{Original: []float64{-2, 0}, Other: []float64{0, 1}, Retrained: []float64{0.5, 0.5}, Group: []int{0, 1}}}
	for share, want := range map[float64]string{0: "retain90 (wd 0)", 1: "full (wd 0)", 0.2: "numbers, not a model: 20 % of full (wd 0) in retain90 (wd 0)"} {
		if got := c.label(share); got != want {
			t.Errorf("%v: %q", share, got)
		}
	}
	e := c.mixed(0.25)
	near(t, "first", e.Unlearned[0], -0.5, 1e-15)
	near(t, "second", e.Unlearned[1], 0.75, 1e-15)
	if v, err := c.verdict(1); err != nil || !strings.HasPrefix(v.Text, "none: p is 0.33") || v.P != nil {
		t.Errorf("%+v, %v", v, err)
	}
}

// studyOf has three models of a method and rate, and two of another.
func studyOf() *logs.DepthStudy {
	rate := 1e-5
	row := func(method string, uds, es float64) logs.DepthModel {
		return logs.DepthModel{Method: method, Epoch: "ep5", Rate: &rate, UDS: uds, OneMinusES: es}
	}
	return &logs.DepthStudy{Models: []logs.DepthModel{{Method: full, Reference: true},
		row("npo", 0.1, 0.2), row("npo", 0.2, 0.3), row("npo", 0.3, 0.1), row("rmu", 0.9, 0.5), row("rmu", 0.8, 0.6)}}
}

func TestRanksWithinAMethodCountItsPairsAlone(t *testing.T) {
	u := unlearnedOf(studyOf())
	if len(u.models) != 5 || fmt.Sprint(u.methods) != "[npo rmu]" || fmt.Sprint(u.cluster, u.recipe) != "[0 0 0 1 1] [0 0 0 1 1]" {
		t.Fatalf("%+v", u)
	}
	es := lenses[2]
	within, constant, err := u.byMethod(es, depth)
	if err != nil || len(constant) != 0 || len(within) != 2 {
		t.Fatalf("%v, %v, %v", within, constant, err)
	}
	near(t, "npo", within[0].tau, -1.0/3, 1e-12) // one pair of three agrees
	near(t, "rmu", within[1].tau, -1, 1e-12)
	all := []int{0, 1, 2, 3, 4}
	v, err := u.withinRecipes(es, depth, all)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "within recipes", v, (1.0-3)/4, 1e-12)
	whole, err := u.tau(es, depth, all)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "all", whole, (1.0+6-3)/10, 1e-12) // the six pairs of two methods agree
	if _, constant, err = u.byMethod(lenses[1], depth); err != nil || len(constant) != 2 {
		t.Errorf("a metric of one value: %v, %v", constant, err)
	}
	if _, err := u.withinRecipes(lenses[1], depth, all); err == nil {
		t.Error("a metric of one value has a rank correlation")
	}
}

func TestClustersWidenIntervals(t *testing.T) {
	r := made(60, 0)
	row, w, err := clusterRow(r, r.Forget, probability, "forget: probability")
	if err != nil || len(row.Cells) != 9 || w.ratio() != w.authors/w.questions || *row.Cells[7].Value != 3 || *row.Cells[8].Value != 60 {
		t.Fatalf("%+v, %+v, %v", row, w, err)
	}
	rows := extremeRows("m", []widths{{1, 2, 3}, {2, 3, 1}})
	if len(rows) != 2 || rows[0].Cells[0].Text != "least" || *rows[0].Cells[5].Value != 1.5 || *rows[0].Cells[6].Value != 1 || *rows[1].Cells[5].Value != 2 {
		t.Errorf("%+v", rows)
	}
	if _, _, err := clusterRow(r, made(50, 0).Forget, probability, ""); err == nil {
		t.Error("half an author is accepted")
	}
}
