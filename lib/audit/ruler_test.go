package audit

import (
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

func TestRULEROfACaseAgreesWithTheLenses(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{Fit: train.Config{Epochs: 5}})
	r, err := c.RULER(c.Original, ruler.Options{PointOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	gap, err := c.Read(AgainstOracle{}, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	rank, err := c.Read(Neighbours{}, c.Original)
	if err != nil {
		t.Fatal(err)
	}
	if r.M2.Value != gap.Value || r.M4.Value != rank.Value {
		t.Errorf("M2 %v, lens %v; M4 %v, lens %v", r.M2.Value, gap.Value, r.M4.Value, rank.Value)
	}
	if r.M3.Value != 0 {
		t.Errorf("M3 of the original is %v, expected 0: nothing has moved", r.M3.Value)
	}
	own, err := c.RULER(c.Oracle, ruler.Options{PointOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(own.M1.Value-1) > 1e-12 {
		t.Errorf("M1 of the oracle with itself is %v, expected 1", own.M1.Value)
	}
	if n := len(r.PerRecord.Rank); n != len(c.Forget) {
		t.Errorf("%d ranks for %d forgotten records", n, len(c.Forget))
	}
}

func TestRULERTableHasARowPerModelAndMarksControls(t *testing.T) {
	c := openCase(t, newLab(t), lab.Setting{Fit: train.Config{Epochs: 2}})
	table, err := c.RULERTable(c.Original, c.Oracle)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := table.Text(&b); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 2 || !strings.Contains(b.String(), "controls") || !strings.Contains(b.String(), c.Oracle.Label) {
		t.Errorf("the table is\n%s", b.String())
	}
}
