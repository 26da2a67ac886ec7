package toy

import (
	"fmt"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
)

func TestTheSignOfATestIsThatOfTheHigherSet(t *testing.T) {
	c := Contrast{Higher: []float64{1e-3, 1 - 1e-5, 0.4}, Lower: []float64{1 - 1e-3, 1e-5, 0.6}}
	if got := fmt.Sprintf("%.4f", c.Signed()); got != "[3.0000 -5.0000 0.3979]" {
		t.Errorf("signed: %s", got)
	}
	if e := c.RejectionRate(); e.N != 3 || e.Value != 2.0/3 || e.Over != "pairs" {
		t.Errorf("called: %+v", e)
	}
}

func TestTheForestOfGapsHasThePapersContrastAndItsControls(t *testing.T) {
	e, s := enginetest.WithStore(t)
	r, err := tiny().Run(t.Context(), e, s)
	if err != nil {
		t.Fatal(err)
	}
	f, err := r.Gaps()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Rows) != 6 || f.Rows[0].Control || !f.Rows[1].Control || !f.Rows[2].Control || f.Rows[3].Group != "logits" {
		t.Errorf("%+v", f.Rows)
	}
	null, err := r.Summary(1, 2, Null, true)
	if err != nil {
		t.Fatal(err)
	}
	if f.Rows[4].Estimate.Value != null.OverBatches.Value || *f.Rows[4].P != null.Wilcoxon {
		t.Errorf("the fifth row is %+v, want across against across on the logits, %+v", f.Rows[4], null.OverBatches)
	}
	c, err := r.Contrasts(0, r.Last(), Same, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c[0].Histograms("one", "other").PNG(); err != nil {
		t.Error(err)
	}
	if _, err := r.Row("x", 2, Same, true); err == nil {
		t.Error("a third layer was accepted")
	}
}
