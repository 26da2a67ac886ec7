package stats

import (
	"math"
	"testing"
)

func fit(t *testing.T, y []float64, group []int, null float64) Mixed {
	t.Helper()
	m, err := RandomIntercept(y, group, null)
	must(t, err)
	return m
}

var (
	balancedY = []float64{.61, .63, .60, .62, .52, .55, .50, .54, .71, .69, .74, .70, .48, .51, .47, .49, .58, .56, .60, .57}
	balancedG = []int{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4}

	unequalY = []float64{.61, .63, .60, .52, .55, .71, .69, .74, .70, .68, .48, .58, .56, .60, .57, .66, .64}
	unequalG = []int{0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 3, 4, 4, 4, 4, 5, 5}

	boundaryY = []float64{.61, .43, .70, .52, .55, .31, .69, .64, .40, .48, .58, .56, .60, .57, .66}
	boundaryG = []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}
)

// statsmodels 0.15.0, MixedLM(y - 0.5, ones, groups).fit(reml=True, gtol=1e-12).
// For the unbalanced data SE is (1'V^-1 1)^(-1/2) at statsmodels' variances, with
// NumPy 2.4.6; statsmodels itself prints 0.0326312, see RandomIntercept.
func TestRandomInterceptMatchesStatsmodels(t *testing.T) {
	for _, c := range []struct {
		name                                  string
		y                                     []float64
		g                                     []int
		mu, se, between, within, llf, z, pval float64
	}{
		{"balanced", balancedY, balancedG, 0.0835, 0.03832916643984881, 0.00726020833320107, 0.00034166666666830196, 38.45957593519782, 2.17849767568098, 0.029369005089430415},
		{"unbalanced", unequalY, unequalG, 0.09416446741698681, 0.032624725714003676, 0.006213852857150897, 0.00037488875178724566, 29.68330077941056, 2.8862914662472754, 0.0038981097435433214},
	} {
		m := fit(t, c.y, c.g, 0.5)
		checkClose(t, c.name+" mu", m.Mu, c.mu, 1e-8)
		checkClose(t, c.name+" SE", m.SE, c.se, 1e-8)
		checkClose(t, c.name+" between", m.VarBetween, c.between, 1e-8)
		checkClose(t, c.name+" within", m.VarWithin, c.within, 1e-9)
		checkClose(t, c.name+" logLik", m.LogLik, c.llf, 1e-10)
		checkClose(t, c.name+" z", m.Z, c.z, 1e-6)
		checkClose(t, c.name+" p", m.PZ, c.pval, 1e-7)
		if !m.Converged || m.Boundary {
			t.Errorf("%s: converged %t, boundary %t", c.name, m.Converged, m.Boundary)
		}
	}
}

// On this sample statsmodels 0.15.0 gives up at a between-group variance of
// 1.0e-4 with converged = False; the maximum is at 0, and ours is higher.
func TestBoundaryHasNoBetweenVarianceAndDidNotConverge(t *testing.T) {
	m := fit(t, boundaryY, boundaryG, 0.5)
	if !m.Boundary || m.Converged || m.VarBetween != 0 || m.ICC != 0 {
		t.Fatalf("%+v", m)
	}
	sd, err := SD(boundaryY)
	must(t, err)
	checkClose(t, "within", m.VarWithin, sd*sd, 1e-14)
	checkClose(t, "SE", m.SE, sd/math.Sqrt(15), 1e-14)
	checkClose(t, "mu", m.Mu, 0.05333333333333334, 1e-14)
	if m.LogLik < 9.65154907181417 {
		t.Errorf("restricted likelihood %v is below the one statsmodels stopped at", m.LogLik)
	}
}

func TestProfileAgreesWithTheClosedFormOnBalancedData(t *testing.T) {
	rng := newRNG(61)
	for rep := range 60 {
		y, g := simulateGroups(rng, 2+rng.IntN(10), 2+rng.IntN(6), float64(rep%4)*0.5, 1)
		gs, err := groupValues(y, g, 0.1)
		must(t, err)
		a, b := gs.closedForm(), gs.profile()
		checkClose(t, "mu", b.Mu, a.Mu, 1e-8)
		checkClose(t, "SE", b.SE, a.SE, 1e-8)
		checkClose(t, "between", b.VarBetween, a.VarBetween, 1e-8)
		checkClose(t, "within", b.VarWithin, a.VarWithin, 1e-8)
		checkClose(t, "logLik", b.LogLik, a.LogLik, 1e-8)
		if a.Boundary != b.Boundary || a.Converged != b.Converged {
			t.Errorf("flags differ: %+v and %+v", a, b)
		}
	}
}

// The restricted likelihood from its definition with the full covariance matrix
// is maximal where the profile says.
func TestProfileMaximisesTheRestrictedLikelihood(t *testing.T) {
	m := fit(t, unequalY, unequalG, 0.5)
	at := func(between, within float64) float64 { return slowREML(unequalY, unequalG, 0.5, between, within) }
	best := at(m.VarBetween, m.VarWithin)
	checkClose(t, "logLik", m.LogLik, best, 1e-10)
	for _, f := range []float64{0.5, 0.9, 0.99, 1.01, 1.1, 2} {
		if at(m.VarBetween*f, m.VarWithin) >= best || at(m.VarBetween, m.VarWithin*f) >= best {
			t.Errorf("the likelihood is higher at a factor of %v", f)
		}
	}
}

func TestRandomInterceptDoesNotCareForLabelsOrderOrScale(t *testing.T) {
	want := fit(t, unequalY, unequalG, 0.5)
	n := len(unequalY)
	y, g := make([]float64, n), make([]int, n)
	for i := range y {
		y[i], g[i] = 10*unequalY[n-1-i], 1000-7*unequalG[n-1-i]
	}
	got := fit(t, y, g, 5)
	checkClose(t, "mu", got.Mu/10, want.Mu, 1e-12)
	checkClose(t, "SE", got.SE/10, want.SE, 1e-12)
	checkClose(t, "T", got.T, want.T, 1e-10)
	checkClose(t, "ICC", got.ICC, want.ICC, 1e-11)
}

func TestStudentIntervalAgreesWithItsTest(t *testing.T) {
	m := fit(t, balancedY, balancedG, 0.5)
	if m.DF != 4 || m.Groups != 5 || m.N != 20 {
		t.Errorf("%+v", m)
	}
	if (m.PT < 0.05) != (m.Low > 0 || m.High < 0) {
		t.Errorf("p %v does not agree with [%v, %v]", m.PT, m.Low, m.High)
	}
	shifted := fit(t, balancedY, balancedG, 0.5+m.Low)
	checkClose(t, "p at the lower end", shifted.PT, 0.05, 1e-12)
	if m.PZ >= m.PT {
		t.Errorf("Wald's p %v is not below Student's %v", m.PZ, m.PT)
	}
}

func TestGroupsWithoutInnerVarianceAreOneValueEach(t *testing.T) {
	for _, g := range [][]int{{0, 0, 1, 1, 2, 2}, {0, 0, 0, 1, 2, 2}} {
		y := make([]float64, 6)
		means := []float64{0.1, 0.4, 0.7}
		for i := range y {
			y[i] = means[g[i]]
		}
		m := fit(t, y, g, 0)
		checkClose(t, "mu", m.Mu, 0.4, 1e-15)
		checkClose(t, "SE", m.SE, 0.3/math.Sqrt(3), 1e-15)
		if m.VarWithin != 0 || m.ICC != 1 || !m.Boundary || m.Converged || m.LogLik != 0 {
			t.Errorf("%+v", m)
		}
	}
}

func TestEqualValuesInAGroupLeaveNoVarianceOfRounding(t *testing.T) {
	rng := newRNG(62)
	for range 500 {
		n := 3 + rng.IntN(8)
		y, g := simulateGroups(rng, 3, n, 1, 0)
		if m := fit(t, y, g, 0.1); m.VarWithin != 0 {
			t.Fatalf("groups of %d equal values have variance %v", n, m.VarWithin)
		}
	}
}

func TestVarianceOfRoundingSizeWithinUnequalGroupsCountsAsNone(t *testing.T) {
	y := []float64{0.1, 0.1 + 1e-13, 0.1 - 1e-13, 0.4, 0.7, 0.7 + 1e-13}
	m := fit(t, y, []int{0, 0, 0, 1, 2, 2}, 0)
	checkClose(t, "mu", m.Mu, 0.4, 1e-12)
	checkClose(t, "SE", m.SE, 0.3/math.Sqrt(3), 1e-12)
	if m.VarWithin != 0 || !m.Boundary {
		t.Errorf("%+v", m)
	}
}

func TestICCIsTheShareBetweenGroups(t *testing.T) {
	for _, c := range []struct{ between, within, want float64 }{{0.89, 0.11, 0.89}, {0, 1, 0}, {1, 0, 1}, {0, 0, 0}} {
		if v := ICC(c.between, c.within); v != c.want {
			t.Errorf("ICC(%v, %v) = %v, want %v", c.between, c.within, v, c.want)
		}
	}
	if !math.IsNaN(ICC(-1, 2)) {
		t.Error("a negative variance gave an ICC")
	}
}

func TestRandomInterceptRefusesWhatCannotBeFitted(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		y    []float64
		g    []int
		null float64
		want string
	}{
		{nil, nil, 0, "y is empty"},
		{[]float64{1, nan}, []int{0, 1}, 0, "y[1] is NaN"},
		{[]float64{1, 2}, []int{0}, 0, "y has 2 values, group has 1"},
		{[]float64{1, 2}, []int{0, 0}, nan, "null is NaN"},
		{[]float64{1, 2, 3}, []int{7, 7, 7}, 0, "group has 1 distinct value (7)"},
		{[]float64{1, 2, 3}, []int{0, 1, 2}, 0, "every group has one value"},
		{[]float64{.1, .1, .1, .1}, []int{0, 0, 1, 1}, 0.3, "all 4 values of y are equal"},
	} {
		_, err := RandomIntercept(c.y, c.g, c.null)
		refuses(t, err, "stats.RandomIntercept", c.want)
	}
}
