package fishing

import (
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack/features"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/report"
	"github.com/lethe-ml/lethe/lib/unlearn"
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
	q := learned.Target{Model: records(0), Original: &original, NearestMember: []int{1, 0}}
	for _, p := range learned.Protocols() {
		want := 3
		if slices.Contains([]string{"P-C", "P-D", "P-F"}, p.Name) {
			want = 2
		}
		got := withoutMissingFeature(p, q)
		if m := got.Model.Members; m.Cols != want || m.Row(1)[want-1] != float64(3+want-1) {
			t.Errorf("%s: %d features, the last of the second record %v", p.Name, m.Cols, m.Row(1)[want-1])
		}
		if m := got.Original.Nonmembers; m.Cols != want || m.Row(1)[0] != 103 || !slices.Equal(got.NearestMember, q.NearestMember) {
			t.Errorf("%s: %d features in the original, beside %v", p.Name, m.Cols, got.NearestMember)
		}
	}
	if original.Members.Cols != 3 || q.Model.Members.Cols != 3 {
		t.Error("the question itself has fewer features now")
	}
	if withoutMissingFeature(learned.PC(), learned.Target{Model: records(0)}).Original != nil {
		t.Error("an original came from nowhere")
	}
}

// Every protocol looks at every variant, and stands in a column of its own.
func TestTheTableOfProtocols(t *testing.T) {
	s := shortenStudy(t, byProtocol, Original, Retrained, OtherSeed, Foster)
	c := &s.Cases[0]
	ev, err := collect(t.Context(), newEnv(t), s)
	if err != nil {
		t.Fatal(err)
	}
	table := ev.protocols().Table
	if err := table.Check(); err != nil {
		t.Error(err)
	}
	for k, p := range c.Protocols {
		name := strings.TrimPrefix(p.Name, "cross-fitted-")
		if p.Residual {
			name = "within types"
		}
		if column := table.Columns[k+1]; !strings.HasSuffix(column.Name, name) || !strings.Contains(column.Note, p.About) {
			t.Errorf("column %d is %q, of %s", k+1, column.Name, p.Name)
		}
		for r, variant := range []string{Original, Retrained, OtherSeed, Foster} {
			row := table.Rows[r]
			if want := ev.rowsOf(c.Label, variant)[0].Attacks[p.Name].All.AUC.Value; *row.Cells[k+1].Value != want || row.Cells[0].Text != variant {
				t.Errorf("%s, %s: %v in the row of %s, want %v", p.Name, variant, *row.Cells[k+1].Value, row.Cells[0].Text, want)
			}
		}
	}
	printed := 0
	for _, row := range table.Rows {
		if row.Kind == report.Paper {
			printed++
		}
	}
	if printed != 7 || len(table.Rows) != 4+printed || len(c.Protocols) != 11 {
		t.Errorf("%d rows of the paper's of %d, %d protocols", printed, len(table.Rows), len(c.Protocols))
	}
	for scale, want := range map[string]int{"quick": 8, "standard": 10} {
		if s, err := byProtocol(scale); err != nil || len(s.Cases[0].variants()) != want {
			t.Errorf("%s: %d variants, %v", scale, len(s.Cases[0].variants()), err)
		}
	}
	if _, err := byProtocol("huge"); err == nil {
		t.Error("an unknown scale is taken")
	}
}

// P-A's last feature is the distance to the first retained cells, of the model under attack
// or, kept, of the original; of more retained cells than it takes P-A is not P-B.
func TestTheReferenceOfEveryProtocol(t *testing.T) {
	s := shortenStudy(t, byProtocol, Original, Retrained, OtherSeed)
	c, err := newEnv(t).Lab().Case(t.Context(), s.Cases[0].setting(0))
	if err != nil {
		t.Fatal(err)
	}
	q, err := newAttackCase(t.Context(), c, s.Cases[0])
	if err != nil {
		t.Fatal(err)
	}
	other, err := q.outputsAfter(t.Context(), unlearn.Retrain{})
	if err != nil {
		t.Fatal(err)
	}
	few, kept := learned.PA(), learned.PAKept()
	few.FirstRetained, kept.FirstRetained = 50, 50
	distance := func(p learned.Protocol) float64 {
		got, err := q.protocolInput(p, other)
		if err != nil {
			t.Fatal(err)
		}
		m := got.Model.Nonmembers
		return m.Row(3)[m.Cols-1]
	}
	by := func(codes array.Matrix[float32]) float64 {
		d, err := features.Neighbours{Codes: other.unseen.codes.Gather(q.negatives), Reference: codes}.MeanDistances()
		if err != nil {
			t.Fatal(err)
		}
		return d[3]
	}
	for name, c := range map[string]struct{ got, want float64 }{
		"P-B": {distance(learned.PB()), by(other.retain.codes)}, "P-A": {distance(learned.PA()), by(other.retain.codes)},
		"P-A of 50": {distance(few), by(other.retain.codes.Gather(indices(50)))}, "kept": {distance(kept), by(q.originalOutputs.retain.codes.Gather(indices(50)))},
	} {
		if c.got != c.want {
			t.Errorf("%s: distance %v, want %v", name, c.got, c.want)
		}
	}
	if got, _ := q.protocolInput(few, other); got.Original.Members.Row(0)[got.Original.Members.Cols-1] == q.original.Members.Row(0)[q.original.Members.Cols-1] {
		t.Error("the attacker of P-A learned by other retained cells than it is scored by")
	}
	for i, row := range c.Forget {
		if g := q.types().Members[i]; g != c.Problem.Train.Y[row] || g == q.types().Nonmembers[0] && q.sameType() == 0 {
			t.Errorf("member %d is of type %d", i, g)
		}
	}
	for i, row := range q.negatives {
		if q.types().Nonmembers[i] != c.Test.Y[row] {
			t.Errorf("non-member %d is of type %d", i, q.types().Nonmembers[i])
		}
	}
}
