package report_test

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/stats"
)

func TestAnIntervalStaysOnOneLine(t *testing.T) {
	table := &report.Table{
		Columns: []report.Column{{Name: "model"}, {Name: "AUC"}},
		Rows: []report.Row{{Cells: []report.Cell{
			report.Str("[one two, three]"), report.Est(stats.Estimate{Value: -0.5, Low: -0.75, High: -0.25}, 2),
		}}},
	}
	var b strings.Builder
	if err := table.HTML(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if want := "[−0.75,\u00a0−0.25]"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	if words := "[one two, three]"; !strings.Contains(got, words) {
		t.Errorf("%q, which is no interval, was changed in\n%s", words, got)
	}
}

// In a notebook a table scrolls inside its frame, from its first to its last tag, and only
// the first cell of a row stays. A page has a frame and a style of its own, around the table alone.
func TestATableScrollsInsideItsFrame(t *testing.T) {
	table := &report.Table{Title: "T", Caption: "C", Columns: report.Columns("a", "b", "c"), Notes: []string{"N"}}
	table.Add(report.Str("x"), report.Num(1, 0), report.Str("y"))
	table.Rows = append(table.Rows, report.Row{Group: "g", Kind: report.Control, Cells: []report.Cell{report.Str("z"), report.Gap("none"), report.Str("w")}})
	got := asHTML(t, table)
	if !strings.Contains(got, "<p>C</p>\n<div style=\"overflow-x: auto\">\n<table class=\"lethe-table\">\n") || !strings.Contains(got, "</table>\n</div>\n<ol>") ||
		strings.Count(got, "<div") != 1 || strings.Count(got, "</div>") != 1 {
		t.Errorf("no frame around the table:\n%s", got)
	}
	for _, row := range strings.Split(got, "<tr")[1:] {
		cells := strings.SplitN(row, "</t", 3) // of the first cell, of the second, the rest
		if sticks := strings.Contains(cells[0], "position: sticky; left: 0; background: "); sticks == strings.Contains(row, "colspan") ||
			strings.Count(row, "sticky") > 1 {
			t.Errorf("a row of which not the first cell alone stays: %s", row)
		}
	}
	page := asPage(t, table)
	page = page[strings.Index(page, "<main>"):]
	if strings.Contains(page, "sticky") || strings.Count(page, "<div") != 1 || strings.Contains(page, "<div style") ||
		!strings.Contains(page, "C</p>\n<div class=\"wide\"") || !strings.Contains(page, "</table>\n</div>\n<ol>") {
		t.Errorf("a page's frame is not around its table:\n%s", page)
	}
}

func asHTML(t *testing.T, table *report.Table) string {
	t.Helper()
	var b strings.Builder
	if err := table.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func asPage(t *testing.T, table *report.Table) string {
	t.Helper()
	var b strings.Builder
	page := report.Page{Title: "P", Sections: []report.Section{{Parts: []report.Part{table}}}}
	if err := page.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// controlsTable has a control, a method and a long text.
func controlsTable() *report.Table {
	t := &report.Table{Columns: report.Columns("model", "AUC", "note")}
	for _, kind := range []report.Kind{report.Control, report.Method} {
		e := stats.Estimate{Value: 0.54, Low: 0.38, High: 0.7}
		t.Rows = append(t.Rows, report.Row{Kind: kind, Cells: []report.Cell{
			report.Str("the " + string(kind)), report.Est(e, 2).WithVerdict("remembered"), report.Str(strings.Repeat("long ", 20)),
		}})
	}
	return t
}

// JupyterLab makes every second row grey. Here the rows of controls are, and no others; the colours
// name no theme, because JupyterLab drops those of a notebook that is not trusted.
func TestTheRowsOfControlsAreGrey(t *testing.T) {
	for _, row := range strings.Split(asHTML(t, controlsTable()), "<tr")[2:] {
		control := strings.Contains(row, "the control") || strings.Contains(row, "controls")
		if grey := strings.HasPrefix(row, ` class="control" style="background: rgba(128, 128, 128, 0.2)">`); grey != control {
			t.Errorf("grey %v: %s", grey, row)
		}
		if plain := strings.HasPrefix(row, ` style="background: transparent">`); plain == control {
			t.Errorf("plain %v: %s", plain, row)
		}
	}
	page := asPage(t, controlsTable())
	if !strings.Contains(page, "tr.control { background: #ececec; }") || strings.Count(page, `<tr class="control">`) != 2 {
		t.Errorf("a page's controls are not grey: %s", page)
	}
}

// A verdict has a mark and a colour beside its word; no other text has.
func TestAVerdictHasAMarkAndAColour(t *testing.T) {
	for _, got := range []string{asHTML(t, controlsTable()), asPage(t, controlsTable())} {
		if want := "background-color: #fbdcdc; color: #7d1010\">\u2717\u00a0remembered</span>"; strings.Count(got, want) != 2 {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	var text strings.Builder
	table := controlsTable()
	if err := table.Text(&text); err != nil {
		t.Fatal(err)
	}
	if want := "0.54 [0.38, 0.70] \u2717 remembered"; strings.Count(text.String(), want) != 2 {
		t.Errorf("no %q in\n%s", want, text.String())
	}
	var markdown strings.Builder
	if err := table.Markdown(&markdown); err != nil || strings.Contains(markdown.String(), "\u2717") || !strings.Contains(markdown.String(), "] remembered |") {
		t.Errorf("%v, committed tables hold the word alone:\n%s", err, markdown.String())
	}
	plain := report.Str("forgotten")
	table = &report.Table{Columns: report.Columns("set"), Rows: []report.Row{{Cells: []report.Cell{plain}}}}
	if got := asHTML(t, table); strings.Contains(got, "\u2713") {
		t.Errorf("the name of a set is shown as a verdict:\n%s", got)
	}
}

// A table from a file knows its verdicts again.
func TestVerdictsAreReadFromJSON(t *testing.T) {
	var b strings.Builder
	if err := controlsTable().JSON(&b); err != nil {
		t.Fatal(err)
	}
	again, err := report.ReadJSON(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asHTML(t, controlsTable()), asHTML(t, again); a != b {
		t.Errorf("%s\nand read again\n%s", a, b)
	}
}

// Rows keep one height: no cell wraps, and a long text is clipped and in the title.
func TestRowsKeepOneHeight(t *testing.T) {
	got := asHTML(t, controlsTable())
	for _, cell := range strings.Split(got, "<td ")[1:] {
		if style, _, _ := strings.Cut(cell, ">"); strings.Contains(style, "; white-space: nowrap") == strings.Contains(style, "colspan") {
			t.Errorf("a cell that wraps, or a separator that does not: %s", style)
		}
	}
	if strings.Count(got, `max-width: 40em; overflow: hidden; text-overflow: ellipsis" title="long long `) != 2 {
		t.Errorf("a long text is not clipped:\n%s", got)
	}
}

// Wherever a text is broken into lines, a number, its interval and its per cent sign stay together.
func TestNumbersAreNotBroken(t *testing.T) {
	const text = "a level of 95 % and a mean of \u22120.54 [\u22120.38, 0.70], and [no number], and [one two, three]"
	if got, want := report.KeepNumbers(text), "a level of 95\u00a0% and a mean of \u22120.54\u00a0[\u22120.38,\u00a00.70], and [no number], and [one two, three]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for width := 24; width < 110; width++ {
		table := &report.Table{Columns: report.Columns("a"), Caption: strings.Repeat(text+" ", 3)}
		var b strings.Builder
		if err := table.TextWithin(&b, width); err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"95 %", "\u22120.54 [\u22120.38, 0.70]"} {
			if strings.Count(b.String(), part) != 3 {
				t.Errorf("%d columns break %q:\n%s", width, part, b.String())
			}
		}
	}
}
