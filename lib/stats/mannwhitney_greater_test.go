package stats

import (
	"math"
	"testing"
)

// The p-values were computed with SciPy 1.17.1, mannwhitneyu(x, y,
// alternative="greater"), with ties by method=PermutationMethod(n_resamples=1e7).
func TestMannWhitneyGreaterEqualsSciPy(t *testing.T) {
	for name, c := range map[string]struct {
		x, y  []float64
		u, p  float64
		exact bool
	}{
		"exact, above":      {[]float64{3, 5, 8, 9}, []float64{1, 2, 4, 6, 7}, 15, 0.14285714285714285, true},
		"exact, below":      {[]float64{1, 2, 4}, []float64{3, 5, 8, 9}, 1, 0.9714285714285714, true},
		"ties":              {[]float64{1, 2, 2, 3, 5}, []float64{1, 1, 2, 4}, 13, 0.2857142857142857, true},
		"normal, below 1/2": {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 17}, []float64{10, 11, 12, 13, 14, 15, 16, 18, 19}, 7, 0.9991653316786288, false},
		"normal, above 1/2": {[]float64{10, 11, 12, 13, 14, 15, 16, 18, 19}, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 17}, 83, 0.001099823530556528, false},
	} {
		r, err := MannWhitneyGreater(c.x, c.y)
		if err != nil {
			t.Fatal(err)
		}
		if r.U != c.u || math.Abs(r.P-c.p) > 1e-12 || r.Exact != c.exact {
			t.Errorf("%s: %+v, want U %v, p %.17g, exact %t", name, r, c.u, c.p, c.exact)
		}
	}
}

func TestMannWhitneyGreaterOfEqualValuesIsOne(t *testing.T) {
	r, err := MannWhitneyGreater([]float64{2, 2, 2}, []float64{2, 2})
	if err != nil || r.P != 1 || r.U != 3 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, bad := range [][]float64{nil, {1, math.NaN()}} {
		if _, err := MannWhitneyGreater(bad, []float64{1}); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}
