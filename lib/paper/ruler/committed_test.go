package ruler

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lethe-ml/lethe/lib/report"
)

// shelf holds one small committed table.
func shelf(t *testing.T) fstest.MapFS {
	t.Helper()
	table := &report.Table{
		ID: "ruler/small", Title: "Small", Columns: []report.Column{{Name: "arm"}, {Name: "M2"}, {Name: "p"}, {Name: "p"}},
		Rows: []report.Row{
			{Group: "5 %", Cells: []report.Cell{report.Str(GA), report.Num(-0.25, 2), report.PVal(0.5), report.PVal(0.75)}},
			{Kind: report.Control, Group: "5 %", Cells: []report.Cell{report.Str(Nothing), report.Gap("lost"), report.PVal(0.5), report.PVal(0.75)}},
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
	table, err := Committed(shelf(t), "small")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.Title, "computed before, scale paper") {
		t.Errorf("title %q", table.Title)
	}
	if v, err := Number(table, "M2", "5 %", GA); err != nil || v != -0.25 {
		t.Errorf("M2 of %s: %v, %v", GA, v, err)
	}
	for _, c := range []struct{ column, group, arm, in string }{
		{"M5", "5 %", GA, `no column "M5"`}, {"M2", "1 %", GA, `group "1 %"`}, {"M2", "5 %", FT, FT}, {"M2", "5 %", Nothing, "lost"},
	} {
		if _, err := Number(table, c.column, c.group, c.arm); err == nil || !strings.Contains(err.Error(), c.in) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

func TestAnExcerptKeepsColumnsRowsAndProvenance(t *testing.T) {
	table, err := Committed(shelf(t), "small")
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
	if len(part.Rows) != 1 || part.Rows[0].Cells[1].Text != Nothing || *part.Rows[0].Cells[0].P != 0.5 || part.Provenance.Scale != "paper" {
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
		if _, err := Committed(shelf(t), name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestTheScaleComesFromTheEnvironment(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	t.Setenv("LETHE_ENGINE", "go")
	for given, want := range map[string]string{"": "quick", "standard": "standard"} {
		t.Setenv(ScaleEnv, given)
		e, s, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		e.Engine.Close()
		if s.Name != want {
			t.Errorf("%q gave scale %q", given, s.Name)
		}
	}
	t.Setenv(ScaleEnv, "vast")
	if _, _, err := Open(); err == nil || !strings.Contains(err.Error(), "vast") {
		t.Errorf("error %v", err)
	}
}
