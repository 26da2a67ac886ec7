package attacks

import (
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/plot"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/verify/ensemble"
)

func environment(t *testing.T) *paper.Env {
	t.Helper()
	e, s := enginetest.WithStore(t)
	return &paper.Env{Engine: e, Store: s}
}

// tiny is a study of one case and one method.
func tiny() Study {
	c := contradictingLabels()
	c.Data, c.Methods = lab.Limit(c.Data, 300, 0), []unlearn.Method{unlearn.SCRUB{Epochs: 2}}
	return Study{Scale: "quick", Cases: []Case{c}, Models: 12, Ensemble: 4}
}

// What is memorised is found in the original and not in retrained models, by every
// attack; the shadows of U-LiRA are those that the method has unlearned, of the unaware
// attacker those that it has not.
func TestAttacksFindWhatIsMemorised(t *testing.T) {
	e, s := environment(t), tiny()
	ev, err := paper.Collect(t.Context(), e, shadowMeasurements(e, s))
	if err != nil {
		t.Fatal(err)
	}
	auc, found := map[string]stats.Estimate{}, map[string]AttackResult{}
	for _, r := range ev.Rows {
		auc[r.Variant+"/"+r.Attack], found[r.Variant+"/"+r.Attack] = r.Sweep.AUC, r
	}
	ulira := shadow.ULiRA{Pooled: true}.Name()
	for _, name := range []string{threshold, "population", "quantile-regression", "rmia-online", unawareLiRA, ulira} {
		if a := auc[Original+"/"+name]; a.Low < 0.6 {
			t.Errorf("%s finds %v in the original", name, a)
		}
		if a := auc[Retrained+"/"+name]; a.High > auc[Original+"/"+name].Low || a.Low > 0.55 || a.High < 0.45 {
			t.Errorf("%s finds %v in retrained models", name, a)
		}
	}
	if auc[Original+"/"+unawareLiRA].Value != auc[Original+"/"+ulira].Value {
		t.Error("before unlearning the shadows of both attackers are the same")
	}
	if auc["scrub/"+unawareLiRA].Value == auc["scrub/"+ulira].Value {
		t.Error("after unlearning the shadows of both attackers are others")
	}
	of := found[Original+"/"+ulira]
	if mean, err := stats.Mean(of.Records); err != nil || len(of.Records) != of.Assigned || mean < 0.6 {
		t.Errorf("%d of %d records, on average %v, %v", len(of.Records), of.Assigned, mean, err)
	}
	out := showTPR(e, s, ev)
	if err := out.Table.Check(); err != nil || len(out.Table.Rows) != 18 {
		t.Errorf("%d rows, %v", len(out.Table.Rows), err)
	}
	panels := out.Figure.(plot.Panels).Figures
	if len(panels) != 2 || panels[0].(plot.Scatter).Clouds[0].X[3] != of.Records[3] {
		t.Errorf("%d panels", len(panels))
	}
	if _, err := out.Figure.PNG(); err != nil {
		t.Error(err)
	}
}

func TestDistancesStandBesideRetraining(t *testing.T) {
	e, s := environment(t), tiny()
	pieces := distanceMeasurements(e, s)
	if len(pieces) != 2 || pieces[1].Setting.Forget != lab.Class("cross") {
		t.Fatalf("%d pieces", len(pieces))
	}
	ev, err := paper.Collect(t.Context(), e, pieces[:1])
	if err != nil {
		t.Fatal(err)
	}
	if len(ev.Rows) != 2 || ev.Rows[0].Variant != Original || len(ev.Rows[0].Judged) != 3 {
		t.Fatalf("%+v", ev.Rows)
	}
	for _, j := range ev.Rows[0].Judged {
		if worse := (j.Value > *j.Null) == (j.Better == stats.LowerIsBetter); !worse || j.N != s.Ensemble {
			t.Errorf("%s of the original is %v, of retraining %v, %d models", j.Distance, j.Value, *j.Null, j.N)
		}
		if *j.Null == 0 {
			t.Errorf("%s: the null is of models with themselves", j.Distance)
		}
		if second := ev.Rows[1].Judged; *second[0].Null != *ev.Rows[0].Judged[0].Null {
			t.Error("two methods have different nulls")
		}
	}
	// The roles: unlearned models against retrained ones of other seeds, next to the retrained
	// ones of their own.
	of := s.Cases[0]
	var cases []*lab.Case
	for k := range 2 * s.Ensemble {
		c, err := e.Lab().Case(t.Context(), of.settingAt(k))
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	mine, others := cases[:s.Ensemble], cases[s.Ensemble:]
	views := func(of []*lab.Case, m unlearn.Method) []modelOutputs {
		v, err := probabilities(t.Context(), of, m)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want, err := of.measureDistances(ensembleOutputs{
		unlearned: views(mine, unlearn.NoOp{}), reference: views(others, unlearn.Retrain{}), second: views(mine, unlearn.Retrain{}),
	}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range ev.Rows[0].Judged {
		if j.Value != want[i].Value || *j.Null != *want[i].Null {
			t.Errorf("%s is %v beside %v, by hand %v beside %v", j.Distance, j.Value, *j.Null, want[i].Value, *want[i].Null)
		}
	}
	out := showDistances(e, s, ev)
	if err := out.Table.Check(); err != nil || len(out.Table.Rows) != 3 || out.Table.Rows[1].Cells[0].Text != Retrained {
		t.Errorf("%d rows, %v", len(out.Table.Rows), err)
	}
}

// For a class its neighbours are used, with reference models that never had it.
func TestClassMembershipUsesNeighbours(t *testing.T) {
	e := environment(t)
	c := wholeClass()
	c.Data, c.Fit.Epochs, c.Methods = lab.Limit(c.Data, 200, 100), 10, nil
	rows, err := c.distances(t.Context(), e.Lab(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || len(rows[0].Judged) != len(ensemble.Distances()) {
		t.Fatalf("%+v", rows)
	}
}

func TestScales(t *testing.T) {
	for _, s := range Paper().Scales {
		if _, err := StudyAt(s.Name); err != nil {
			t.Error(err)
		}
	}
	if _, err := StudyAt("huge"); err == nil || !strings.Contains(err.Error(), "huge") {
		t.Error("a scale that does not exist was accepted")
	}
}
