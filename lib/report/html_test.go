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
// the first cell of a row stays. A page has a frame and a style of its own.
func TestATableScrollsInsideItsFrame(t *testing.T) {
	table := &report.Table{Title: "T", Caption: "C", Columns: report.Columns("a", "b", "c"), Notes: []string{"N"}}
	table.Add(report.Str("x"), report.Num(1, 0), report.Str("y"))
	table.Rows = append(table.Rows, report.Row{Group: "g", Kind: report.Control, Cells: []report.Cell{report.Str("z"), report.Gap("none"), report.Str("w")}})
	var b strings.Builder
	if err := table.HTML(&b); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if !strings.Contains(got, "<p>C</p>\n<div style=\"overflow-x: auto\">\n<table>\n") || !strings.Contains(got, "</table>\n</div>\n<ol>") ||
		strings.Count(got, "<div") != 1 || strings.Count(got, "</div>") != 1 {
		t.Errorf("no frame around the table:\n%s", got)
	}
	for _, row := range strings.Split(got, "<tr>")[1:] {
		cells := strings.SplitN(row, "</t", 3) // of the first cell, of the second, the rest
		if sticks := strings.Contains(cells[0], "position: sticky; left: 0; background: "); sticks == strings.Contains(row, "colspan") ||
			strings.Count(row, "sticky") > 1 {
			t.Errorf("a row of which not the first cell alone stays: %s", row)
		}
	}
	b.Reset()
	page := report.Page{Title: "P", Sections: []report.Section{{Parts: []report.Part{table}}}}
	if err := page.HTML(&b); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); strings.Contains(got, "sticky") || strings.Count(got, "<div") != 1 || strings.Contains(got, "<div style") {
		t.Errorf("a page's table has two frames:\n%s", got[strings.Index(got, "<main>"):])
	}
}
