package report

import (
	"bytes"
	"strings"
	"testing"
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
