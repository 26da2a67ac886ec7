package audit

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
	"github.com/lethe-ml/lethe/lib/lab"
)

// corrupted returns a case of the same models in which some rows of the test part are other records,
// of another class.
func corrupted(c *Case, rows []int) *Case {
	data := *c.Prepared
	data.Test = data.Test.Gather(c.NonMemberRows())
	for _, i := range rows {
		for k := range data.Test.X.Row(i) {
			data.Test.X.Row(i)[k] = float32(3*k - i%5)
		}
		data.Test.Y[i] = (data.Test.Y[i] + 1) % c.Classes()
	}
	inner, problem := *c.Case, *c.Problem
	problem.Prepared, inner.Problem = &data, &problem
	out := &Case{Case: &inner}
	out.Original, out.Oracle = inner.NewModel(c.Original.Label, c.Original.Weights), inner.NewModel(c.Oracle.Label, c.Oracle.Weights)
	out.SecondOracle = inner.NewModel("another", c.Problem.InitialWeights(5))
	return out
}

// The half of the test part that methods may look at says nothing to a lens: with other
// records there every reading is what it was. With other records in the other half it is
// not, but for the lenses that look at no held-out record.
func TestNoLensLooksAtRecordsThatAMethodMayHaveSeen(t *testing.T) {
	blind := []string{AgainstOracle{}.Name(), Neighbours{}.Name()}
	c := openCase(t, newLab(t), island())
	judged := c.EvalRows()
	seen := slices.DeleteFunc(c.NonMemberRows(), func(i int) bool { return slices.Contains(judged, i) })
	if len(seen) != len(judged) || len(seen)+len(judged) != c.Test.X.Rows {
		t.Fatalf("%d and %d of %d rows", len(seen), len(judged), c.Test.X.Rows)
	}
	plain, other, exchanged := corrupted(c, nil), corrupted(c, seen), corrupted(c, judged)
	absent := 0
	for _, lens := range append(Lenses(), RMIA{}, Relearning{Epochs: 3}) {
		read := func(c *Case) string {
			r, err := c.Read(lens, c.Original)
			if err != nil {
				t.Fatalf("%s: %v", lens.Name(), err)
			}
			return fmt.Sprint(r.Value, r.Low, r.High, r.N, r.Absent)
		}
		if r, err := plain.Read(lens, plain.Original); err == nil && r.Absent != "" {
			absent++
			continue
		}
		before := read(plain)
		if after := read(other); after != before {
			t.Errorf("%s reads %s, and %s where records that a method may look at are others", lens.Name(), before, after)
		}
		if after := read(exchanged); (after == before) != slices.Contains(blind, lens.Name()) {
			t.Errorf("%s reads %s, and %s where the records that are judged are others", lens.Name(), before, after)
		}
	}
	if absent > 1 { // the reconstruction of images and cells has a test of its own
		t.Errorf("%d lenses cannot look", absent)
	}
}

// What the lab and the audit hand out as held out are the judged records, in their order.
func TestHeldOutRecordsAreTheJudgedOnes(t *testing.T) {
	c := openCase(t, newLab(t), island())
	o, err := c.Original.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	on := func(part datasets.Part) []float64 {
		losses, err := lab.Labels{}.RecordLosses(o.Test, part)
		if err != nil {
			t.Fatal(err)
		}
		return losses
	}
	l, err := c.Losses(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.EmbeddingGroups(c.Original)
	if err != nil {
		t.Fatal(err)
	}
	all, judged := on(c.Test), c.EvalRows()
	if len(l.HeldOut) != len(judged) || g.HeldOut.Rows != len(judged) {
		t.Fatalf("%d losses and %d activations of %d judged records", len(l.HeldOut), g.HeldOut.Rows, len(judged))
	}
	for k, i := range judged {
		if l.HeldOut[k] != all[i] || g.HeldOut.Row(k)[0] != float64(o.Test.Embedding.Row(i)[0]) {
			t.Fatalf("record %d of the held-out ones is not row %d", k, i)
		}
	}
}
