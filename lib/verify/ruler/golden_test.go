package ruler

import (
	"testing"
)

// The golden numbers were computed with NumPy 2.4.6 and SciPy 1.17.1 from
// equations (2) to (7), on the arrays of golden().
func TestMetricsEqualNumPy(t *testing.T) {
	u, o, g, forget, retain := golden()
	checkClose(t, "first value of the unlearned model", u.Data[0], 0.27812308, 1e-8)
	r, err := Measure(Evidence{Unlearned: u, Oracle: o, Original: g, Forget: forget, Retain: retain}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	const tol = 1e-14
	checkClose(t, "s(u, o) of the first forget record", r.PerRecord.Similarity[0], 0.9009316713164821, tol)
	checkClose(t, "M1", r.M1.Value, 0.9361640295929734, tol)
	checkClose(t, "M2", r.M2.Value, -0.009088264799913759, tol)
	checkClose(t, "M2 with the mean", r.M2Mean.Value, -0.005160140020852744, tol)
	checkClose(t, "M3", r.M3.Value, 0.004942049765144882, tol)
	checkClose(t, "M4", r.M4.Value, 0.5621666666666666, tol)
	checkClose(t, "low end of M1", r.M1.Low, 0.9276322194256016, 1e-12)
	checkClose(t, "high end of M1", r.M1.High, 0.9446958397603452, 1e-12)
}

// RandomState(42).choice(600, k, replace=False) of NumPy 2.4.6 draws both.
func TestCapsDrawTheRecordsThatNumPyDraws(t *testing.T) {
	u, o, _, forget, retain := golden()
	r, err := Measure(Evidence{Unlearned: u, Oracle: o, Forget: forget, Retain: retain}, Options{GalleryCap: 200})
	if err != nil {
		t.Fatal(err)
	}
	if r.Baseline != 500 || r.Gallery != 200 {
		t.Fatalf("%d baseline and %d gallery records, want 500 and 200", r.Baseline, r.Gallery)
	}
	for k, want := range []int{118, 447, 603, 82} {
		if r.PerRecord.BaselineRows[k] != want || r.PerRecord.GalleryRows[k] != want {
			t.Errorf("draw %d is %d and %d, want %d in both", k, r.PerRecord.BaselineRows[k], r.PerRecord.GalleryRows[k], want)
		}
	}
	checkClose(t, "M4 of 200 drawn records", r.M4.Value, 0.504875, 1e-14)
}

func TestSeparateMetricsEqualMeasure(t *testing.T) {
	u, o, g, forget, retain := golden()
	r, err := Measure(Evidence{Unlearned: u, Oracle: o, Original: g, Forget: forget, Retain: retain}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	e1, x1, err1 := M1(Evidence{Unlearned: u, Oracle: o, Forget: forget}, Options{})
	e2, x2, err2 := M2(Evidence{Unlearned: u, Oracle: o, Forget: forget, Retain: retain}, Options{})
	e2m, _, err2m := M2(Evidence{Unlearned: u, Oracle: o, Forget: forget, Retain: retain}, Options{Baseline: Mean})
	e3, x3, err3 := M3(Evidence{Unlearned: u, Oracle: o, Original: g, Forget: forget}, Options{})
	e4, x4, err4 := M4(Evidence{Unlearned: u, Forget: forget, Retain: retain}, Options{})
	for _, err := range []error{err1, err2, err2m, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	checkClose(t, "M1", e1.Value, r.M1.Value, 0)
	checkClose(t, "M2", e2.Value, r.M2.Value, 0)
	checkClose(t, "M2 low", e2.Low, r.M2.Low, 0)
	checkClose(t, "M2 mean", e2m.Value, r.M2Mean.Value, 0)
	checkClose(t, "M3", e3.Value, r.M3.Value, 0)
	checkClose(t, "M4", e4.Value, r.M4.Value, 0)
	for k, x := range [][]float64{x1, x2, x3, x4} {
		want := []float64{e1.Value, e2.Value, e3.Value, e4.Value}[k]
		checkClose(t, "mean of the values per record", mean(x), want, 1e-14)
	}
}
