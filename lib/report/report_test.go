package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

// sample is a small table with every kind of row and cell.
func sample() *report.Table {
	null := 0.0
	est := stats.Estimate{Value: -0.0231, Low: -0.0302, High: -0.0160, Level: 0.95, Over: "data sets", Null: &null, Better: stats.NearNull, N: 10}
	return &report.Table{
		ID: "demo/table1", Title: "Table 1. Residual similarity", Caption: "M2 is zero when nothing is left.",
		Columns: []report.Column{{Name: "method"}, {Name: "M2", Note: "mixed model, 95 % interval over data sets"}, {Name: "p"}, {Name: "M2", Paper: true}},
		Rows: []report.Row{
			{Group: "5 % forgotten", Cells: []report.Cell{report.Str("SCRUB"), report.Est(est, 3), report.PVal(0.0000004), report.Num(-0.019, 3)}},
			{Group: "5 % forgotten", Cells: []report.Cell{report.Str("fine-tuning"), report.Num(0.1, 3), report.PVal(0.25), report.Gap("not printed")}},
			{Group: "5 % forgotten", Kind: report.Control, Cells: []report.Cell{report.Str("do nothing"), report.Num(math.NaN(), 3), report.PVal(2), report.Str("")}},
			{Group: "5 % forgotten", Kind: report.Paper, Cells: []report.Cell{report.Str("SCRUB"), report.Num(-0.02, 2), report.Str(""), report.Str("")}},
		},
		Notes: []string{"A model that never saw the records scores the same."},
		Provenance: report.Provenance{Scale: "quick", Seeds: []int64{0, 1, 2, 7, 101}, Engine: "go", Kernel: "AVX2", ResultsVersion: "1",
			Data: map[string]string{"b": "22", "a": "11"}, Command: "lethe table ruler 1 --scale quick", Runs: 12, RunsHash: "abcdef0123456789"},
	}
}

func text(t *testing.T, tab *report.Table) string {
	t.Helper()
	var b strings.Builder
	if err := tab.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdown(t *testing.T, tab *report.Table) string {
	t.Helper()
	var b strings.Builder
	if err := tab.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonOf(t *testing.T, tab *report.Table) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := tab.JSON(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTextIsAlignedAndSetsControlsApart(t *testing.T) {
	const want = `Table 1. Residual similarity
M2 is zero when nothing is left.

method                             M2        p      paper: M2
─────────────────────────────────────────────────────────────
5 % forgotten
SCRUB         −0.023 [−0.030, −0.016]   <0.001         −0.019
fine-tuning                     0.100    0.250  (not printed)
┄┄ controls ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
do nothing             (not a number)  (p = 2)
┄┄ printed in the paper ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
paper: SCRUB                    −0.02
─────────────────────────────────────────────────────────────
M2: mixed model, 95 % interval over data sets
(1) A model that never saw the records scores the same.
scale: quick
seeds: 0-2, 7, 101
engine: go, AVX2
results version: 1
runs: 12, abcdef0123456789
data a: 11
data b: 22
again: lethe table ruler 1 --scale quick
`
	if got := text(t, sample()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMarkdownShowsTheSameRows(t *testing.T) {
	const want = `**Table 1. Residual similarity**

M2 is zero when nothing is left.

| method | M2 | p | paper: M2 |
| :--- | ---: | ---: | ---: |
| **5 % forgotten** | | | |
| SCRUB | −0.023 [−0.030, −0.016] | &lt;0.001 | −0.019 |
| fine-tuning | 0.100 | 0.250 | (not printed) |
| *controls* | | | |
| *do nothing* | (not a number) | (p = 2) | |
| *printed in the paper* | | | |
| *paper: SCRUB* | −0.02 | | |

*M2*: mixed model, 95 % interval over data sets

1. A model that never saw the records scores the same.

<sub>scale: quick<br>seeds: 0-2, 7, 101<br>engine: go, AVX2<br>results version: 1<br>runs: 12, abcdef0123456789<br>data a: 11<br>data b: 22<br>again: lethe table ruler 1 --scale quick</sub>
`
	if got := markdown(t, sample()); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestJSONHasNullAndReasonInsteadOfNaN(t *testing.T) {
	tab := sample()
	nan := math.NaN()
	tab.Rows[1].Cells[1] = report.Cell{Text: "?", Value: &nan, Estimate: &stats.Estimate{Value: nan, Low: math.Inf(-1), High: 1}}
	var got struct {
		Rows []struct {
			Cells []struct {
				Value    *float64
				Missing  string
				Estimate *struct{ Value, Low, High *float64 }
			}
		}
	}
	if err := json.Unmarshal(jsonOf(t, tab), &got); err != nil {
		t.Fatal(err)
	}
	c := got.Rows[1].Cells[1]
	if c.Value != nil || c.Missing != "not a number" {
		t.Errorf("value %v, missing %q", c.Value, c.Missing)
	}
	if c.Estimate.Value != nil || c.Estimate.Low != nil || *c.Estimate.High != 1 {
		t.Errorf("estimate %+v", c.Estimate)
	}
}

func TestJSONIsReadBackUnchanged(t *testing.T) {
	first := jsonOf(t, sample())
	tab, err := report.ReadJSON(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if second := jsonOf(t, tab); !bytes.Equal(first, second) {
		t.Errorf("first\n%s\nsecond\n%s", first, second)
	}
	if text(t, tab) != text(t, sample()) {
		t.Error("the text changed on the way through JSON")
	}
}

func TestTheSameTableGivesTheSameBytes(t *testing.T) {
	wantText, wantJSON := text(t, sample()), jsonOf(t, sample())
	for range 20 {
		if text(t, sample()) != wantText || !bytes.Equal(jsonOf(t, sample()), wantJSON) {
			t.Fatal("bytes differ")
		}
	}
}

func TestColumnsStayAlignedWithWideCharacters(t *testing.T) {
	tab := &report.Table{ID: "w", Columns: []report.Column{{Name: "name"}, {Name: "v"}}, Rows: []report.Row{
		{Cells: []report.Cell{report.Str("\u8aad\u307f\u66f8\u304d"), report.Num(1, 1)}},
		{Cells: []report.Cell{report.Str("e\u0301t\u00e9"), report.Num(-22, 1)}},
		{Cells: []report.Cell{report.Str("\U0001f469\u200d\U0001f52c"), report.Num(3, 1)}},
	}}
	lines := strings.Split(text(t, tab), "\n")
	for _, l := range lines[2:5] {
		if w := uniseg.StringWidth(l); w != uniseg.StringWidth(lines[1]) {
			t.Errorf("%q is %d wide, the rule %d", l, w, uniseg.StringWidth(lines[1]))
		}
	}
}

func TestStringsCannotSteerTheTerminalOrTheMarkup(t *testing.T) {
	evil := "a|b\n<b>x</b> \x1b[31m`c` *d* _e_ [f](http://g) $h$ \u202eabc"
	tab := &report.Table{ID: "e", Columns: []report.Column{{Name: evil}, {Name: "v"}}, Rows: []report.Row{{Cells: []report.Cell{report.Str(evil), report.Str("")}}}}
	if got := text(t, tab); strings.ContainsAny(got, "\x1b\u202e") || strings.Count(got, "\n") != 4 {
		t.Errorf("text: %q", got)
	}
	md := markdown(t, tab)
	const want = "a\\|b<br>&lt;b&gt;x&lt;/b&gt; \ufffd[31m\\`c\\` \\*d\\* \\_e\\_ [f]\\(http://g) \\$h\\$ \ufffdabc"
	if !strings.Contains(md, want) {
		t.Errorf("markdown: %q", md)
	}
	if strings.Count(md, "\n") != 3 {
		t.Errorf("markdown has %d lines, want 3: %q", strings.Count(md, "\n"), md)
	}
}

func TestTablesThatDoNotFitAreRefusedByRow(t *testing.T) {
	cases := map[string]struct {
		change func(*report.Table)
		want   string
	}{
		"no columns": {func(t *report.Table) { t.Columns = nil }, `table "demo/table1" has no columns`},
		"cells":      {func(t *report.Table) { t.Rows[2].Cells = t.Rows[2].Cells[:1] }, "row 3: 1 cells for 4 columns"},
		"kind":       {func(t *report.Table) { t.Rows[0].Kind = "magic" }, `row 1: unknown kind "magic"`},
		"align":      {func(t *report.Table) { t.Columns[1].Align = "up" }, `column 2 ("M2"): unknown alignment "up"`},
		"header":     {func(t *report.Table) { t.Rows[0].Kind = report.Header }, "at most one cell, got 4"},
	}
	for name, c := range cases {
		tab := sample()
		c.change(tab)
		for _, render := range []func() error{
			func() error { return tab.Text(&strings.Builder{}) },
			func() error { return tab.Markdown(&strings.Builder{}) },
			func() error { return tab.JSON(&strings.Builder{}) },
		} {
			if err := render(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q in it", name, err, c.want)
			}
		}
	}
}

func TestNumbersPrintInOneStyle(t *testing.T) {
	cases := []struct {
		cell report.Cell
		want string
	}{
		{report.Num(0.61149, 2), "0.61"},
		{report.Num(-1.5, 2), "−1.50"},
		{report.Num(-0.0004, 3), "0.000"},
		{report.Num(math.Copysign(0, -1), 1), "0.0"},
		{report.Num(12345678901, 2), "1.23e+10"},
		{report.Est(stats.Estimate{Value: 0.61, Low: 0.59, High: 0.63}, 2), "0.61 [0.59, 0.63]"},
		{report.Est(stats.Estimate{Value: 0.61, Low: math.NaN(), High: 0.63}, 2), "0.61 [no interval]"},
		{report.PVal(0.003), "0.003"},
		{report.PVal(0.0009999), "<0.001"},
		{report.PVal(0.001), "0.001"},
		{report.PVal(1), "1.000"},
	}
	for _, c := range cases {
		if c.cell.Text != c.want {
			t.Errorf("got %q, want %q", c.cell.Text, c.want)
		}
	}
	for _, c := range []report.Cell{report.Num(math.Inf(1), 2), report.Est(stats.Estimate{Value: math.NaN()}, 2), report.PVal(math.NaN()), report.PVal(-0.1), report.Gap("")} {
		if c.Missing == "" || c.Value != nil || c.P != nil {
			t.Errorf("%+v should be a gap with a reason", c)
		}
	}
}

func TestDataHashNamesEveryDataSet(t *testing.T) {
	hash := func(m map[string]string) string { return report.Provenance{Data: m}.DataHash() }
	base := hash(map[string]string{"a": "1", "b": "2"})
	for _, other := range []map[string]string{nil, {"a": "1"}, {"a": "1", "b": "3"}, {"a": "2", "b": "1"}, {"a\" \"1": "b", "b": "2"}} {
		if hash(other) == base {
			t.Errorf("%v has the hash of another set", other)
		}
	}
}

func FuzzTablesPrintWhatTheyAreGiven(f *testing.F) {
	f.Add("SCRUB", "5 %", 0.5, "why")
	f.Add("a|b\n*c*", "\x1b[2J", math.NaN(), "\\")
	f.Add("\xff\xfe", "\u8aad", math.Inf(-1), "")
	f.Fuzz(func(t *testing.T, name, group string, v float64, why string) {
		tab := &report.Table{ID: name, Title: group, Caption: why, Columns: []report.Column{{Name: name}, {Name: "v"}},
			Rows:  []report.Row{{Group: group, Cells: []report.Cell{report.Str(name), report.Num(v, 3)}}, {Kind: report.Control, Cells: []report.Cell{report.Str(why), report.Gap(why)}}},
			Notes: []string{why}}
		if s := text(t, tab); strings.ContainsAny(s, "\x1b\x07\r\t") {
			t.Errorf("control character in %q", s)
		}
		for _, l := range strings.Split(markdown(t, tab), "\n") {
			if strings.HasPrefix(l, "|") && strings.Count(l, "|")-strings.Count(l, `\|`) != 3 {
				t.Errorf("a row with a wrong count of cells: %q", l)
			}
		}
		once, err := report.ReadJSON(bytes.NewReader(jsonOf(t, tab)))
		if err != nil {
			t.Fatal(err)
		}
		// Text that is not UTF-8 is repaired on the first way through.
		first := jsonOf(t, once)
		twice, err := report.ReadJSON(bytes.NewReader(first))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, jsonOf(t, twice)) {
			t.Errorf("JSON changed on the way: %s", first)
		}
	})
}

func FuzzReadJSON(f *testing.F) {
	var b bytes.Buffer
	if err := sample().JSON(&b); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"columns":[{"name":"a"}],"rows":[{"kind":"method","cells":[]}]}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tab, err := report.ReadJSON(bytes.NewReader(data))
		if err != nil {
			return
		}
		text(t, tab)
		markdown(t, tab)
		jsonOf(t, tab)
	})
}

func TestReadJSONRefusesWhatItDoesNotKnow(t *testing.T) {
	for in, want := range map[string]string{
		`{"colums":[]}`:                "unknown field",
		`{"columns":[{"name":"a"}]} x`: "data after the end",
		`{"columns":[{"name":"a"}],"rows":[{"kind":"method"}]}`: "0 cells for 1 columns",
		``: "EOF",
	} {
		if _, err := report.ReadJSON(strings.NewReader(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", in, err, want)
		}
	}
}

func BenchmarkText(b *testing.B) {
	tab := sample()
	for range 6 {
		tab.Rows = append(tab.Rows, tab.Rows...)
	}
	for b.Loop() {
		if err := tab.Text(&bytes.Buffer{}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestShareIsReadAndCounted(t *testing.T) {
	if c := report.Share(17, 20); c.Text != "17/20" || c.Value == nil || *c.Value != 0.85 {
		t.Errorf("17 of 20 is %+v", c)
	}
	if c := report.Share(0, 0); c.Missing == "" || c.Value != nil {
		t.Errorf("a share of none is %+v, want a gap", c)
	}
}

func TestSecondsHaveAUnitThatSuitsThem(t *testing.T) {
	for v, want := range map[float64]string{61.24: "61.2 s", 1: "1 s", 0.0525: "52.5 ms", 0.000318: "318 us"} {
		if got := report.FormatSeconds(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestTheDeviceOfXLAIsInTheProvenanceAndTablesWithoutOneStayAsTheyWere(t *testing.T) {
	p := report.Provenance{Engine: "xla", Kernel: "cuda, deterministic, tf32", Device: "NVIDIA H100; driver 580.65.06"}
	for _, with := range []bool{true, false} {
		if !with {
			p.Device = ""
		}
		table := &report.Table{ID: "a/b", Columns: report.Columns("x"), Provenance: p}
		var text, js strings.Builder
		if err := errors.Join(table.Text(&text), table.JSON(&js)); err != nil {
			t.Fatal(err)
		}
		for name, out := range map[string]string{"text": text.String(), "JSON": js.String()} {
			if strings.Contains(out, "driver 580.65.06") != with || strings.Contains(out, "device") != with || !strings.Contains(out, "tf32") {
				t.Errorf("%s, with a device %v: %s", name, with, out)
			}
		}
	}
}

// Rows with the same label may differ in another cell; a row that is there twice is a recipe's mistake.
func TestARowStandsOnce(t *testing.T) {
	table := func(rows ...report.Row) *report.Table {
		return &report.Table{ID: "demo/table1", Columns: report.Columns("data", "size"), Rows: rows}
	}
	row := func(kind report.Kind, group, label string, size float64) report.Row {
		return report.Row{Kind: kind, Group: group, Cells: []report.Cell{report.Str(label), report.Num(size, 0)}}
	}
	heading := func(text string) report.Row {
		return report.Row{Kind: report.Header, Cells: []report.Cell{report.Str(text)}}
	}
	for name, tab := range map[string]*report.Table{
		"another size":    table(row("", "a", "adult", 1), row("", "a", "adult", 2)),
		"another group":   table(row("", "a", "adult", 1), row("", "b", "adult", 1)),
		"another heading": table(heading("x"), row("", "", "adult", 1), heading("y"), row("", "", "adult", 1)),
		"another kind":    table(row(report.Paper, "a", "adult", 1), row("", "a", "adult", 1)),
	} {
		if err := tab.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	twice := table(row("", "a", "adult", 1), row("", "a", "adult", 2), row(report.Method, "a", "adult", 1))
	if err := twice.Check(); err == nil || !strings.Contains(err.Error(), `table "demo/table1": rows 1 and 3 are the same ("a", "adult")`) {
		t.Error(err)
	}
	if twice.ID = ""; twice.Check() != nil {
		t.Error("a table without an ID holds what somebody gave")
	}
}
