package report

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func wide() *Table {
	t := &Table{Title: "A title that is longer than a narrow terminal has room for", Columns: []Column{{Name: "name"}, {Name: "what it is"}, {Name: "a"}, {Name: "b"}, {Name: "c"}}}
	for _, name := range []string{"first", "the_second_has_a_long_name_of_one_word"} {
		t.Rows = append(t.Rows, Row{Cells: []Cell{Str(name), Str("several words that say what it is, 你好, and go on for a while"), Num(1.25, 2), Num(2.5, 2), Num(3.75, 2)}})
	}
	return t
}

func text(t *testing.T, table *Table, limit int) string {
	t.Helper()
	var out strings.Builder
	if err := table.TextWithin(&out, limit); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestATableFitsAndLosesNothing(t *testing.T) {
	for _, limit := range []int{58, 60, 70, 80, 100} {
		got := text(t, wide(), limit)
		for line := range strings.Lines(got) {
			if n := uniseg.StringWidth(strings.TrimRight(line, "\n")); n > limit {
				t.Errorf("%d columns: a line of %d\n%s", limit, n, got)
				break
			}
		}
		for value, n := range map[string]int{"1.25": 2, "2.50": 2, "3.75": 2, "several": 2, "你好": 2, "while": 2, "first": 1, "the_second_has_a_long_name_of_one_word": 1} {
			if strings.Count(got, value) < n {
				t.Errorf("%d columns: %s is lost\n%s", limit, value, got)
			}
		}
	}
}

func TestATableThatFitsStaysAsItIs(t *testing.T) {
	free := text(t, wide(), 0)
	if got := text(t, wide(), 200); got != free {
		t.Errorf("got\n%s\nwant\n%s", got, free)
	}
}

func TestColumnsWithoutRoomStandBelow(t *testing.T) {
	table := &Table{Columns: []Column{{Name: "set"}, {Name: "alpha"}, {Name: "beta"}}, Rows: []Row{{Cells: []Cell{Str("x"), Num(1, 4), Num(2, 4)}}}}
	want := "set   alpha\n───────────\nx    1.0000\n───────────\n\nset    beta\n───────────\nx    2.0000\n───────────\n"
	if got := text(t, table, 12); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWrappedBreaksAtSpacesOnly(t *testing.T) {
	if got := strings.Join(Wrap("ab cd abcdefghij 你好 x", 5), "|"); got != "ab cd|abcdefghij|你好|x" {
		t.Errorf("got %s", got)
	}
}
