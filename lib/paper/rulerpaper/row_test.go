package rulerpaper

import (
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ruler"
)

// Every number of a row against the measure of its name, computed by itself: an
// exchange of two columns, or of two roles, gives another number.
func TestARowHasEveryNumberInItsPlace(t *testing.T) {
	e := newEnv(t, t.TempDir(), 0)
	c := problemCell(t, e)
	ref, err := e.reference(c)
	if err != nil {
		t.Fatal(err)
	}
	request, err := c.Request(t.Context(), unlearn.GradientAscent{LR: 0.05})
	if err != nil {
		t.Fatal(err)
	}
	weights, _, err := unlearn.Apply(t.Context(), unlearn.GradientAscent{LR: 0.05}, request)
	if err != nil {
		t.Fatal(err)
	}
	row, err := e.measure(c, ref, Variant{Label: "ascent"}, weights)
	if err != nil {
		t.Fatal(err)
	}

	embedding := func(w nn.Params) *array.Matrix[float64] {
		p, err := c.Runner.Predict(w, c.Train.X)
		if err != nil {
			t.Fatal(err)
		}
		m := array.Convert[float64](p.Embedding)
		return &m
	}
	evidence := ruler.Evidence{
		Unlearned: embedding(weights), Oracle: embedding(c.oracle), Original: embedding(c.original), Forget: c.Forget, Retain: c.Retain,
	}
	want := map[string]float64{}
	opt := e.options(c.study)
	for _, m := range ruler.Metrics() {
		v, _, err := m.Measure(evidence, opt)
		if err != nil {
			t.Fatal(err)
		}
		want[m.Name] = v.Value
	}
	opt.Baseline = ruler.Mean
	mean, _, err := ruler.M2(evidence, opt)
	if err != nil {
		t.Fatal(err)
	}
	evidence.Unlearned = evidence.Oracle
	own, _, err := ruler.M4(evidence, opt)
	if err != nil {
		t.Fatal(err)
	}
	onTest, err := c.Runner.Predict(weights, c.Test.X)
	if err != nil {
		t.Fatal(err)
	}
	on := func(rows []int) ([]float64, float64) {
		d := c.Records(rows)
		p, err := c.Runner.Predict(weights, d.X)
		if err != nil {
			t.Fatal(err)
		}
		return train.Losses(p.Logits(), d.Y), train.Accuracy(p.Logits(), d.Y)
	}
	forgotten, forgetAcc := on(c.Forget)
	retained, retainAcc := on(c.Retain)
	a, err := attack.LossThreshold{}.Run(attack.Losses{Retained: retained, Forgotten: forgotten, HeldOut: train.Losses(onTest.Logits(), c.Test.Y)})
	if err != nil {
		t.Fatal(err)
	}
	for name, pair := range map[string][2]float64{
		"M1": {row.M1, want["m1"]}, "M2": {row.M2, want["m2"]}, "M2, mean": {row.M2Mean, mean.Value},
		"M3": {row.M3, want["m3"]}, "M4": {row.M4, want["m4"]}, "the oracle's M4": {row.OracleM4, own.Value},
		"attack": {row.MIA, a.BalancedAccuracy.Value}, "its AUC": {row.MIAAUC, a.AUC.Value},
		"accuracy, forgotten": {row.ForgetAcc, forgetAcc}, "accuracy, retained": {row.RetainAcc, retainAcc},
		"accuracy, held out": {row.TestAcc, train.Accuracy(onTest.Logits(), c.Test.Y)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %v in the row, %v by itself", name, pair[0], pair[1])
		}
	}
	if forgetAcc == retainAcc || row.ForgetAcc == row.TestAcc {
		t.Errorf("accuracies of %v, %v and %v tell no columns apart", row.ForgetAcc, row.RetainAcc, row.TestAcc)
	}
	if row.M2 == row.M2Mean || row.Forget != len(c.Forget) || row.Retain != len(c.Retain) {
		t.Errorf("%+v", row)
	}
}

// The interval of M4 over seeds ends where M4 does; that of a difference does not.
func TestAnIntervalOfM4EndsAtZero(t *testing.T) {
	rows := []Row{{M4: 0, OracleM4: 0.1}, {M4: 0.02, OracleM4: 0.1}, {M4: 0.3, OracleM4: 0.1}}
	if e := seedShareColumn("M4", "", m4).cells(rows)[0].Estimate; e.Low != 0 || e.High <= e.Value || *e.Null != 0.5 {
		t.Errorf("M4: %+v", e)
	}
	if e := seedColumn("ΔM4", "", deltaM4).cells(rows)[0].Estimate; e.Low >= -0.1 || *e.Null != 0 {
		t.Errorf("the difference: %+v", e)
	}
}
