package paper

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lethe-ml/lethe/lib/report"
)

// committedFiles holds one small committed table.
func committedFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	table := &report.Table{
		ID: "ruler/small", Title: "Small", Columns: []report.Column{{Name: "arm"}, {Name: "M2"}, {Name: "p"}, {Name: "p"}},
		Rows: []report.Row{
			{Group: "5 %", Cells: []report.Cell{report.Str("ascent"), report.Num(-0.25, 2), report.PVal(0.5), report.PVal(0.75)}},
			{Kind: report.Control, Group: "5 %", Cells: []report.Cell{report.Str("do nothing"), report.Gap("lost"), report.PVal(0.5), report.PVal(0.75)}},
		},
		Provenance: report.Provenance{Scale: "paper"},
	}
	var b bytes.Buffer
	if err := table.JSON(&b); err != nil {
		t.Fatal(err)
	}
	return fstest.MapFS{"ruler/small.json": {Data: b.Bytes()}, "ruler/broken.json": {Data: []byte("{")}}
}

func TestACommittedTableSaysSoAndGivesItsNumbers(t *testing.T) {
	table, err := Committed(committedFiles(t), "ruler/small")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.Title, "computed before, scale paper") {
		t.Errorf("title %q", table.Title)
	}
	if v, err := Number(table, "M2", "5 %", "ascent"); err != nil || v != -0.25 {
		t.Errorf("M2 of ascent: %v, %v", v, err)
	}
	for _, c := range []struct{ column, group, arm, in string }{
		{"M5", "5 %", "ascent", `no column "M5"`}, {"M2", "1 %", "ascent", `group "1 %"`}, {"M2", "5 %", "tuning", "tuning"}, {"M2", "5 %", "do nothing", "lost"},
		{"p", "5 %", "ascent", `several columns called "p"`},
	} {
		if _, err := Number(table, c.column, c.group, c.arm); err == nil || !strings.Contains(err.Error(), c.in) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

// Which of two rows is meant is not guessed.
func TestACellOfTwoRowsIsNone(t *testing.T) {
	row := report.Row{Group: "5 %", Cells: []report.Cell{report.Str("ascent"), report.Num(1, 0)}}
	other := report.Row{Group: "1 %", Cells: row.Cells}
	table := &report.Table{ID: "mine/table1", Columns: report.Columns("arm", "M2"), Rows: []report.Row{row, other}}
	if c, err := CellAt(table, "M2", "5 %", "ascent"); err != nil || *c.Value != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	table.Rows = append(table.Rows, report.Row{Group: "5 %", Cells: []report.Cell{report.Str("ascent"), report.Num(2, 0)}})
	if _, err := CellAt(table, "M2", "5 %", "ascent"); err == nil || !strings.Contains(err.Error(), `several rows [ascent] in the group "5 %"`) {
		t.Error(err)
	}
}

func TestAnExcerptKeepsColumnsRowsAndProvenance(t *testing.T) {
	table, err := Committed(committedFiles(t), "ruler/small")
	if err != nil {
		t.Fatal(err)
	}
	part, err := Excerpt(table, func(r report.Row) bool { return r.Kind == report.Control }, "p", "arm")
	if err != nil {
		t.Fatal(err)
	}
	if err := part.Check(); err != nil {
		t.Fatal(err)
	}
	if len(part.Rows) != 1 || part.Rows[0].Cells[1].Text != "do nothing" || *part.Rows[0].Cells[0].P != 0.5 || part.Provenance.Scale != "paper" {
		t.Errorf("the excerpt is %+v", part)
	}
	if len(table.Columns) != 4 || len(table.Rows) != 2 {
		t.Error("the table itself was changed")
	}
	if _, err := Excerpt(table, nil, "M9"); err == nil {
		t.Error("a column that is not there was accepted")
	}
	if _, err := Excerpt(table, func(report.Row) bool { return false }, "p"); err == nil {
		t.Error("a table without rows was accepted")
	}
}

func TestATableThatIsMissingOrDamagedIsNamed(t *testing.T) {
	for _, name := range []string{"absent", "broken"} {
		if _, err := Committed(committedFiles(t), "ruler/"+name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
