package report

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"

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
	for _, limit := range []int{40, 58, 60, 70, 80, 100} {
		got := text(t, wide(), limit)
		for line := range strings.Lines(got) {
			if n := uniseg.StringWidth(strings.TrimRight(line, "\n")); n > limit {
				t.Errorf("%d columns: a line of %d\n%s", limit, n, got)
				break
			}
		}
		for value, n := range map[string]int{"1.25": 2, "2.50": 2, "3.75": 2, "several": 2, "你好": 2, "while": 2, "first": 1, "the_second": 1} {
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
	want := "column 2 of 3\nset   alpha\n───────────\nx    1.0000\n───────────\n\ncolumn 3 of 3\nset    beta\n───────────\nx    2.0000\n───────────\n"
	if got := text(t, table, 12); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestWrappedBreaksAtSpacesOnly(t *testing.T) {
	if got := strings.Join(Wrap("ab cd abcdefghij 你好 x", 5), "|"); got != "ab cd|abcdefghij|你好|x" {
		t.Errorf("got %s", got)
	}
}

// unspaced is a text without what wrapping may add or take.
func unspaced(s string) string { return strings.Join(strings.Fields(s), "") }

// substring is the part of a line from one place on screen to another, in whole characters.
func substring(line string, from, to int) string {
	var b strings.Builder
	at := 0
	for g := uniseg.NewGraphemes(line); g.Next(); at += g.Width() {
		if at >= from && at < to {
			b.WriteString(g.Str())
		}
	}
	return b.String()
}

// panelsHold reads a table that was cut to a limit back from its text: each panel says
// which columns it holds, the panels hold every column, each column holds its head and all
// of its cells, and no line of a panel is too long.
func panelsHold(t *Table, limit int) error {
	var out strings.Builder
	bare := &Table{ID: t.ID, Columns: slices.Clone(t.Columns), Rows: t.Rows} // without words above and below
	for j := range bare.Columns {
		bare.Columns[j].Note = ""
	}
	if err := bare.TextWithin(&out, limit); err != nil {
		return err
	}
	text := out.String()
	if notes := bare.Footnotes(); len(notes) > 0 {
		text, _, _ = strings.Cut(text, "\n(1) ")
	}
	for line := range strings.Lines(text) {
		if n := uniseg.StringWidth(strings.TrimRight(line, "\n")); n > limit {
			return fmt.Errorf("%d columns: a line of %d: %s", limit, n, line)
		}
	}
	panels, seen := bare.panels(limit), map[int]bool{}
	if len(panels) == 1 && strings.Contains(text, "columns 2 to") {
		return fmt.Errorf("%d columns: one panel that says which columns it holds", limit)
	}
	rest := text
	for _, p := range panels {
		if p.columns[0] != 0 {
			return fmt.Errorf("%d columns: a panel of columns %v", limit, p.columns)
		}
		if len(panels) > 1 {
			heading := p.heading(len(t.Columns)) + "\n"
			at := strings.Index(rest, heading)
			if at < 0 {
				return fmt.Errorf("%d columns: no %q", limit, heading)
			}
			rest = rest[at+len(heading):]
		}
		lines := strings.Split(rest, "\n")
		from := 0
		for i, j := range p.columns {
			seen[j] = true
			if err := bare.columnIn(lines, j, from, from+p.widths[i], limit); err != nil {
				return fmt.Errorf("%d columns: %w", limit, err)
			}
			from += p.widths[i] + gap
		}
	}
	if len(seen) != len(t.Columns) {
		return fmt.Errorf("%d columns: %d of %d columns are shown", limit, len(seen), len(t.Columns))
	}
	return nil
}

// columnIn reads a column's cells in their order out of the lines of a panel.
func (t *Table) columnIn(lines []string, j, from, to, limit int) error {
	cells := []string{t.heads()[j]}
	for _, l := range t.lines() {
		if l.cells != nil {
			cells = append(cells, l.marked[j])
		}
	}
	spans := map[string]bool{}
	for _, l := range t.lines() {
		if l.cells == nil {
			for _, part := range Wrap(breakLongWords(clean(l.span), limit), limit) {
				spans[part] = true
			}
		}
	}
	var got strings.Builder
	rules := 0
	for _, line := range lines {
		if strings.HasPrefix(line, "\u2500") {
			if rules++; rules == 2 {
				break
			}
			continue
		}
		if !strings.HasPrefix(line, "\u2504") && !spans[line] {
			got.WriteString(unspaced(substring(line, from, to)))
		}
	}
	if want := unspaced(clean(strings.Join(cells, " "))); got.String() != want {
		return fmt.Errorf("column %d (%q) reads\n%s\nand is\n%s", j+1, t.Columns[j].Name, got.String(), want)
	}
	return nil
}

// drawnTable is a table of many columns whose cells are long, short, wide, empty, joined
// from several code points and without a space.
func drawnTable(columns, rows int) *Table {
	words := []string{"", "a", "several words that go on for a while", "\u4f60\u597d\u4e16\u754c\uff0c\u6d4b\u8bd5\u5f88\u957f\u7684\u4e00\u4e2a\u8bcd\u6ca1\u6709\u7a7a\u683c", "e\u0301\u0301 na\u00efve",
		"\U0001f469\u200d\U0001f52c \U0001f1e9\U0001f1ea", strings.Repeat("oneword", 12), "\u0928\u092e\u0938\u094d\u0924\u0947", "(0.1, 0.2)"}
	t := &Table{ID: "x"}
	for j := range columns {
		t.Columns = append(t.Columns, Column{Name: fmt.Sprint("c", j, " ", words[(5*j+1)%len(words)]), Paper: j%5 == 4})
	}
	kinds := []Kind{Method, Control, Paper}
	for i := range rows {
		r := Row{Kind: kinds[i*3/rows], Group: []string{"", "a group whose name is longer than forty characters are wide"}[i%2]}
		for j := range columns {
			switch k := i*columns + j; {
			case j%3 == 1 && k%7 == 0:
				r.Cells = append(r.Cells, Gap("not measured, as this case has no such records"))
			case j%3 == 1:
				r.Cells = append(r.Cells, Est(stats.Estimate{Value: -float64(k) / 7, Low: -1000, High: 12345.678}, j%4).WithVerdict([]string{"", "forgotten", "too few"}[k%3]))
			default:
				r.Cells = append(r.Cells, Str(words[k%len(words)]))
			}
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

func TestNoColumnOfATableVanishes(t *testing.T) {
	var tables []*Table
	for _, size := range [][2]int{{1, 3}, {2, 1}, {2, 9}, {3, 4}, {5, 6}, {12, 12}, {13, 3}, {30, 2}} {
		tables = append(tables, drawnTable(size[0], size[1]))
	}
	drawn := len(tables)
	committed, err := fs.Glob(os.DirFS("../.."), "figures/*/*.json")
	if err != nil || len(committed) < 20 {
		t.Fatalf("%d committed tables: %v", len(committed), err)
	}
	for _, name := range committed {
		f, err := os.Open("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		table, err := ReadJSON(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tables = append(tables, table)
	}
	for i, table := range tables {
		step := 1
		if i >= drawn {
			step = 3 + len(table.Rows)
		}
		for limit := 40; limit <= 300; limit += step {
			if err := panelsHold(table, limit); err != nil {
				t.Errorf("%s, %d x %d: %v", table.ID, len(table.Rows), len(table.Columns), err)
				break
			}
		}
	}
}

// A number stays on one line with its interval where the terminal has room for it.
func TestAPanelKeepsNumbersWhole(t *testing.T) {
	table := &Table{Columns: Columns("a method with a long name", "a heading of many words over numbers", "another")}
	e := Est(stats.Estimate{Value: 0.612, Low: 0.591, High: 0.633}, 3)
	table.Add(Str("a method"), e, e)
	for limit := 40; limit <= 100; limit++ {
		if got := text(t, table, limit); strings.Count(got, "0.612 [0.591, 0.633]") != 2 {
			t.Errorf("%d columns:\n%s", limit, got)
		}
	}
}

// COLUMNS speaks for a terminal only: a pipe or a file gets the whole table.
func TestOnlyATerminalHasAWidth(t *testing.T) {
	t.Setenv("COLUMNS", "40")
	f, err := os.Create(t.TempDir() + "/table.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := terminalWidth(f); n != 0 {
		t.Errorf("a file of width %d", n)
	}
	if n := terminalWidth(&strings.Builder{}); n != 0 {
		t.Errorf("memory of width %d", n)
	}
}
