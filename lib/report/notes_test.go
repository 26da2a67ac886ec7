package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

func TestColumnsThatShareANoteShareItsLine(t *testing.T) {
	tab := &Table{
		ID: "x", Title: "x",
		Columns: []Column{{Name: "arm"}, {Name: "M2"}, {Name: "p", Note: "signed-rank"}, {Name: "M4", Note: "rank"}, {Name: "p", Note: "signed-rank"}, {Name: "q", Note: "signed-rank"}},
		Rows:    []Row{{Cells: []Cell{Str("a"), Num(1, 1), Num(1, 1), Num(1, 1), Num(1, 1), Num(1, 1)}}},
	}
	var text, md bytes.Buffer
	if err := tab.Text(&text); err != nil {
		t.Fatal(err)
	}
	if err := tab.Markdown(&md); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"text": text.String(), "Markdown": md.String()} {
		if n := strings.Count(out, "signed-rank"); n != 1 {
			t.Errorf("%s prints the shared note %d times", name, n)
		}
		if !strings.Contains(out, "p; q") || !strings.Contains(out, "rank\n") {
			t.Errorf("%s lost a name or a note:\n%s", name, out)
		}
	}
}

// An interval over subsets that overlap has its warning in the same cell and in a
// footnote; one over few models has its coverage said. Others have neither.
func TestIntervalsThatAreNotWhatTheySayCarryTheirWarning(t *testing.T) {
	one := func(over string, n int) *Table {
		e := stats.Estimate{Value: 0.5, Low: 0.4, High: 0.6, Level: 0.95, Over: over, N: n}
		return &Table{Columns: []Column{{Name: "rate"}}, Rows: []Row{{Cells: []Cell{Est(e, 1)}}}, Notes: []string{"own"}}
	}
	for _, c := range []struct {
		over string
		n    int
		cell string
		want []string // what the second footnote says
	}{
		{stats.OverSubsets, 100, "0.5 [0.4, 0.6]\u2020", []string{"\u2020 over subsets, which share records", "too narrow"}},
		{stats.OverDraws, 40, "0.5 [0.4, 0.6]\u2020", []string{"\u2020 over draws of references"}},
		{stats.OverModels, 3, "0.5 [0.4, 0.6]", []string{"over 3 models", "89 to 95 of 100"}},
		{stats.OverModels, 5, "0.5 [0.4, 0.6]", []string{"over 5 models", "89 to 95 of 100"}},
		{stats.OverModels, 20, "0.5 [0.4, 0.6]", nil},
		{"records", 3, "0.5 [0.4, 0.6]", nil},
	} {
		tab := one(c.over, c.n)
		if got := tab.Rows[0].Cells[0].Text; got != c.cell {
			t.Errorf("over %d %s: the cell is %q, want %q", c.n, c.over, got, c.cell)
		}
		notes := tab.Footnotes()
		if notes[0] != "own" || (len(notes) == 2) != (c.want != nil) || len(tab.Notes) != 1 {
			t.Errorf("over %d %s: footnotes %q", c.n, c.over, notes)
		}
		var text, md bytes.Buffer
		if err := tab.Text(&text); err != nil {
			t.Fatal(err)
		}
		if err := tab.Markdown(&md); err != nil {
			t.Fatal(err)
		}
		for _, w := range c.want {
			for name, out := range map[string]string{"text": strings.Join(strings.Fields(text.String()), " "), "Markdown": md.String()} {
				if !strings.Contains(out, w) {
					t.Errorf("over %d %s: %q is not in the %s\n%s", c.n, c.over, w, name, out)
				}
			}
		}
	}
}
