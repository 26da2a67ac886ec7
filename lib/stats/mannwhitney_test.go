package stats

import (
	"math"
	"math/bits"
	"testing"
)

func mw(t *testing.T, x, y []float64) TestResult {
	t.Helper()
	r, err := MannWhitney(x, y)
	must(t, err)
	return r
}

// SciPy 1.17.1, stats.mannwhitneyu with its defaults; with ties, with method=
// PermutationMethod(n_resamples=1e7), which tries all assignments.
func TestMannWhitneyMatchesSciPy(t *testing.T) {
	for _, c := range []struct {
		name  string
		x, y  []float64
		u, p  float64
		exact bool
	}{
		{"ties", goldenPos, goldenNeg, 60.5, 0.07047854106677635, true},
		{"three equal ones", []float64{1, 1, 1}, []float64{2, 2, 2}, 0, 0.1, true},
		{"two values", []float64{1, 1, 1, 1, 1, 1, 1, 0, 0}, []float64{1, 1, 1, 0, 0, 0, 0, 0, 0}, 58.5, 0.153434800493624, true},
		{"skewed ties", []float64{3, 3, 3, 3, 5}, []float64{1, 2, 3, 3, 3, 3, 4}, 23, 0.3888888888888889, true},
		{"exact", []float64{1.1, 2.2, 3.3, 4.4, 5.5, 0.3}, []float64{0.5, 2.5, 6.1, 7.2, 8.3, 9.4, 10.5, 3.1}, 11, 0.1078921078921079, true},
		{"large", sequence(20, func(i float64) float64 { return math.Sin(i) + 0.2 }), sequence(15, func(i float64) float64 { return math.Cos(1.7 * i) }), 175, 0.41411894540107386, false},
	} {
		r := mw(t, c.x, c.y)
		checkClose(t, c.name+" U", r.U, c.u, 0)
		checkClose(t, c.name+" P", r.P, c.p, 1e-13)
		if r.Exact != c.exact || r.NX != len(c.x) || r.NY != len(c.y) {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
}

// Every assignment of m labels to m+n ranks, counted one by one.
func TestExactMannWhitneyEqualsEnumeration(t *testing.T) {
	for m := 1; m <= 4; m++ {
		for n := m; n <= 7; n++ {
			counts := make([]float64, m*n+1)
			total := 0.0
			for set := range uint(1) << (m + n) {
				if bits.OnesCount(set) != m {
					continue
				}
				u, below := 0, 0
				for rank := range m + n {
					if set>>rank&1 == 1 {
						u += below
					} else {
						below++
					}
				}
				counts[u]++
				total++
			}
			for u, p := range lowerU(m, n, m*n) {
				checkClose(t, "P(U = u)", p, counts[u]/total, 1e-14)
			}
		}
	}
}

// With ties, over every assignment of the values to the samples, U counted pair by pair.
func TestTiedMannWhitneyEqualsEnumeration(t *testing.T) {
	rng := newRNG(42)
	for m := 1; m <= 5; m++ {
		for n := 1; n <= 6; n++ {
			all := tied(rng, m+n, 3)
			u := func(set uint) (sum float64) {
				for i, a := range all {
					for j, b := range all {
						switch {
						case set>>i&1 == 0 || set>>j&1 == 1:
						case a > b:
							sum++
						case a == b:
							sum += 0.5
						}
					}
				}
				return sum
			}
			observed, low, high, total := u(1<<m-1), 0.0, 0.0, 0.0
			for set := range uint(1) << (m + n) {
				if bits.OnesCount(set) != m {
					continue
				}
				total++
				if u(set) <= observed {
					low++
				}
				if u(set) >= observed {
					high++
				}
			}
			two, greater := mw(t, all[:m], all[m:]), value(MannWhitneyGreater(all[:m], all[m:]))
			checkClose(t, "two-sided", two.P, math.Min(1, 2*math.Min(low, high)/total), 1e-13)
			checkClose(t, "greater", greater.P, high/total, 1e-13)
		}
	}
}

func value[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Of two values U counts one of them: Fisher's exact test. SciPy 1.17.1, hypergeom.sf(k-1,
// n_x + n_y, ones, n_x): exact, and beyond what is counted normal, where U moves by
// hundreds and the correction is half of that.
func TestMannWhitneyOfTwoValuesIsFishersTest(t *testing.T) {
	for _, c := range []struct {
		nx, ones, ny, others int
		p, relative          float64
		exact                bool
	}{
		{60, 38, 140, 62, 0.010114925593836026, 1e-10, true},
		{250, 140, 750, 360, 0.017032574253980276, 0.01, false},
		{5000, 2600, 5000, 2400, 3.438632197445924e-05, 0.01, false},
	} {
		x := sequence(c.nx, func(i float64) float64 { return math.Max(0, math.Copysign(1, float64(c.ones)-i-0.5)) })
		y := sequence(c.ny, func(i float64) float64 { return math.Max(0, math.Copysign(1, float64(c.others)-i-0.5)) })
		for name, r := range map[string]TestResult{"greater": value(MannWhitneyGreater(x, y)), "other side": value(MannWhitneyGreater(mapValues(y, func(v float64) float64 { return -v }), mapValues(x, func(v float64) float64 { return -v })))} {
			if checkClose(t, name, r.P, c.p, c.relative*c.p); r.Exact != c.exact {
				t.Errorf("%+v: exact %t", c, r.Exact)
			}
		}
	}
}

// The recursion P(m,n,u) = m/(m+n) P(m-1,n,u-n) + n/(m+n) P(m,n-1,u) has no
// subtraction, so it checks the numbers where the counts exceed 2^53.
func TestUDistributionIsAccurateForLargeCounts(t *testing.T) {
	const m, n = 20, 60
	p := recursiveU(m, n)
	got := lowerU(m, n, m*n/2)
	for u := range got {
		if math.Abs(got[u]/p[u]-1) > 1e-10 {
			t.Fatalf("P(U = %d) = %v, want %v", u, got[u], p[u])
		}
	}
}

func recursiveU(m, n int) []float64 {
	row := make([][]float64, n+1) // row[j] is the law for i and j records
	for j := range row {
		row[j] = []float64{1}
	}
	for i := 1; i <= m; i++ {
		next := make([][]float64, n+1)
		next[0] = []float64{1}
		for j := 1; j <= n; j++ {
			q := make([]float64, i*j+1)
			for u, v := range row[j] {
				q[u+j] += float64(i) / float64(i+j) * v
			}
			for u, v := range next[j-1] {
				q[u] += float64(j) / float64(i+j) * v
			}
			next[j] = q
		}
		row = next
	}
	return row[n]
}

func TestMannWhitneyStatisticIsTheAUC(t *testing.T) {
	r := mw(t, goldenPos, goldenNeg)
	checkClose(t, "U/(nm)", r.U/80, auc(t, goldenPos, goldenNeg), 1e-15)
	s := mw(t, goldenNeg, goldenPos)
	if s.P != r.P || s.U != 80-r.U {
		t.Errorf("swapped %+v, not the mirror of %+v", s, r)
	}
}

func TestMannWhitneyOfEqualValuesRejectsNothing(t *testing.T) {
	if r := mw(t, make([]float64, 5), make([]float64, 9)); r.P != 1 || !r.Ties {
		t.Errorf("%+v, want P = 1", r)
	}
}

func TestMannWhitneyFindsAPlantedShift(t *testing.T) {
	rng := newRNG(41)
	if r := mw(t, normals(rng, 100, 1), normals(rng, 100, 0)); r.P > 1e-6 {
		t.Errorf("a shift of one standard deviation has P = %v", r.P)
	}
}
