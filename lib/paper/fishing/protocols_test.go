package fishing

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/report"
)

// A protocol gets the features that the paper gives it: all, or all but the last, of the
// model and of the original.
func TestEveryProtocolGetsItsFeatures(t *testing.T) {
	records := func(first float64) learned.Records {
		m := array.New[float64](2, 3)
		for k := range m.Data {
			m.Data[k] = first + float64(k)
		}
		return learned.Records{Members: m, Nonmembers: m}
	}
	original := records(100)
	q := learned.Question{Model: records(0), Original: &original, Beside: []int{1, 0}}
	for _, p := range learned.Protocols() {
		want := 3
		if slices.Contains([]string{"P-C", "P-D", "P-F"}, p.Name) {
			want = 2
		}
		got := narrowed(p, q)
		if m := got.Model.Members; m.Cols != want || m.Row(1)[want-1] != float64(3+want-1) {
			t.Errorf("%s: %d features, the last of the second record %v", p.Name, m.Cols, m.Row(1)[want-1])
		}
		if m := got.Original.Nonmembers; m.Cols != want || m.Row(1)[0] != 103 || !slices.Equal(got.Beside, q.Beside) {
			t.Errorf("%s: %d features in the original, beside %v", p.Name, m.Cols, got.Beside)
		}
	}
	if original.Members.Cols != 3 || q.Model.Members.Cols != 3 {
		t.Error("the question itself has fewer features now")
	}
	if narrowed(learned.PC(), learned.Question{Model: records(0)}).Original != nil {
		t.Error("an original came from nowhere")
	}
}

// Every protocol looks at every arm, and stands in a column of its own.
func TestTheTableOfProtocols(t *testing.T) {
	s := shortened(t, byProtocol, Original, Retrained, OtherSeed, Foster)
	c := &s.Cases[0]
	ev, err := collect(t.Context(), environment(t), s)
	if err != nil {
		t.Fatal(err)
	}
	table := ev.protocols().Table
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	for k, p := range c.Protocols {
		name := strings.TrimPrefix(p.Name, "cross-fitted-")
		if column := table.Columns[k+1]; !strings.HasSuffix(column.Name, name) || !strings.Contains(column.Note, p.About) {
			t.Errorf("column %d is %q, of %s", k+1, column.Name, p.Name)
		}
		for r, arm := range []string{Original, Retrained, OtherSeed, Foster} {
			row := table.Rows[r]
			if want := ev.of(c.Label, arm)[0].Attacks[p.Name].All.AUC.Value; *row.Cells[k+1].Value != want || row.Cells[0].Text != arm {
				t.Errorf("%s, %s: %v in the row of %s, want %v", p.Name, arm, *row.Cells[k+1].Value, row.Cells[0].Text, want)
			}
		}
	}
	printed := 0
	for _, row := range table.Rows {
		if row.Kind == report.Paper {
			printed++
		}
	}
	if printed != 7 || len(table.Rows) != 4+printed || len(c.Protocols) != 8 {
		t.Errorf("%d rows of the paper's of %d, %d protocols", printed, len(table.Rows), len(c.Protocols))
	}
	for scale, want := range map[string]int{"quick": 8, "standard": 10} {
		if s, err := byProtocol(scale); err != nil || len(s.Cases[0].arms()) != want {
			t.Errorf("%s: %d arms, %v", scale, len(s.Cases[0].arms()), err)
		}
	}
	if _, err := byProtocol("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}
