package stats

import (
	"math"
	"slices"
	"testing"
)

// SciPy 1.17.1, ttest_rel and its confidence_interval.
func TestPairedTMatchesSciPy(t *testing.T) {
	for _, c := range []struct {
		diff            []float64
		t, p, low, high float64
	}{
		{[]float64{0.03, 0.05, 0.021, 0.04, 0.029}, 6.78644066447429, 0.00246147007604911, 0.0200900377320196, 0.0479099622679804},
		{[]float64{1, -2, 3.5}, 0.524142418360959, 0.652475976571542, -6.00744851498607, 7.67411518165274},
		{[]float64{-0.1, 0.2, 0.05, -0.3, 0.12, 0.01, -0.02}, -0.0934113817415504, 0.92861788477192, -0.155400043214377, 0.143971471785805},
		{[]float64{1e-07, 2e-07, 1.5e-07, 1.8e-07, 1.1e-07}, 7.65289781192628, 0.00156660992179991, 9.4306107089408e-08, 2.01693892910592e-07},
	} {
		r, err := PairedT(c.diff, OverModels)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, "t", r.T, c.t, 1e-12*math.Abs(c.t))
		checkClose(t, "P", r.P, c.p, 1e-10*c.p)
		checkClose(t, "low", r.Mean.Low, c.low, 1e-9)
		checkClose(t, "high", r.Mean.High, c.high, 1e-9)
		if r.N != len(c.diff) || r.Mean.Over != OverModels {
			t.Errorf("%+v", r)
		}
		back := slices.Clone(c.diff)
		for i := range back {
			back[i] = -back[i]
		}
		if m, err := PairedT(back, OverModels); err != nil || m.T != -r.T || m.P != r.P {
			t.Errorf("exchanged: %+v, %v", m, err)
		}
	}
}

func TestPairedTRefuses(t *testing.T) {
	for _, diff := range [][]float64{nil, {1}, {1, math.NaN()}, {1, math.Inf(1)}, {2, 2, 2}, {0, 0}} {
		if r, err := PairedT(diff, OverModels); err == nil || r != (PairedTResult{}) {
			t.Errorf("%v: %+v, %v", diff, r, err)
		}
	}
}
