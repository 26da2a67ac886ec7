package attack

import (
	"math"
	"testing"
)

func waves(n int, at, plus float64) []float64 {
	out := make([]float64, n)
	for k := range out {
		out[k] = math.Sin(at+float64(1.7*float64(k))) + plus
	}
	return out
}

// NumPy 2.4.6 and scikit-learn 1.9.1 (roc_auc_score, percentile), resamples by
// RandomState(42).choice(n, n).
func TestTheCodedBootstrapIsNumPys(t *testing.T) {
	got, err := CodedBootstrap(Samples{Members: waves(30, 1, 0.4), Nonmembers: waves(194, 2, 0)})
	if err != nil {
		t.Fatal(err)
	}
	want := Coded{
		AUC:       Interval{0.6639175257731958, 0.5589969023323615, 0.7642287944173425},
		Advantage: Interval{0.3278350515463917, 0.11799380466472302, 0.5284575888346851},
	}
	for _, c := range []struct {
		name      string
		got, want Interval
	}{{"AUC", got.AUC, want.AUC}, {"advantage", got.Advantage, want.Advantage}} {
		checkClose(t, c.name, c.got.Value, c.want.Value, 1e-12)
		checkClose(t, c.name+", low", c.got.Low, c.want.Low, 1e-12)
		checkClose(t, c.name+", high", c.got.High, c.want.High, 1e-12)
	}
	// Two members and two non-members: 135 of the 1,000 resamples lack a role.
	few, err := CodedBootstrap(Samples{Members: []float64{0.1, 0.7}, Nonmembers: []float64{0.3, 0.2}})
	if err != nil || few.AUC != (Interval{0.5, 0, 1}) {
		t.Errorf("%+v, %v", few, err)
	}
}

func TestTheCodedIntervalOfTheAdvantageNeverHoldsItsNull(t *testing.T) {
	same := waves(40, 1, 0)
	got, err := CodedBootstrap(Samples{Members: same, Nonmembers: same})
	if err != nil {
		t.Fatal(err)
	}
	if got.Advantage.Value != 0 || got.Advantage.Low <= 0 {
		t.Errorf("the same scores on both sides: %+v", got.Advantage)
	}
	if _, err := CodedBootstrap(Samples{Members: same, Nonmembers: []float64{math.NaN()}}); err == nil {
		t.Error("NaN was accepted")
	}
}
