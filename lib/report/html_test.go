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
