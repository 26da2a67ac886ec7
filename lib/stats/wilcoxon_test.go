package stats

import (
	"math"
	"testing"
)

func wilcoxon(t *testing.T, d []float64) WilcoxonResult {
	t.Helper()
	r, err := Wilcoxon(d)
	must(t, err)
	return r
}

// SciPy 1.17.1, stats.wilcoxon: defaults without ties, method="asymptotic" for n > 50,
// method="exact" for n = 50, method=PermutationMethod(n_resamples=numpy.inf), which tries
// all signs, with ties.
func TestWilcoxonMatchesSciPy(t *testing.T) {
	wave := func(n int, shift float64) []float64 {
		return sequence(n, func(i float64) float64 { return math.Sin((i+1)*1.3) + shift })
	}
	for _, c := range []struct {
		name  string
		diff  []float64
		w, p  float64
		exact bool
	}{
		{"exact", []float64{1.5, -0.3, 2.1, 0.7, -1.1, 3.3, 0.2, -0.6, 2.8, 1.9}, 10, 0.083984375, true},
		{"ties and a zero", []float64{1, -1, 2, 2, 3, -3, 4, 5, 0, 6, 7, -2}, 12, 0.068359375, true},
		{"five equal ones", []float64{.5, .5, .5, .5, .5}, 0, 0.0625, true},
		{"three values", []float64{1, 1, 2, -2, 3, 3, -1}, 6.5, 0.28125, true},
		{"halves", []float64{1.5, -1, 1, 2, -0.5, 0.5, 3, 2.5}, 5, 0.0859375, true},
		{"two zeros", []float64{1, 2, 3, 4, -5, 6, 0, 0}, 5, 0.3125, true},
		{"n = 50", wave(50, 0.25), 369, 0.008848884696840642, true},
		{"n = 60", wave(60, 0.2), 591, 0.017071723791291522, false},
		{"ten of one sign", sequence(10, func(i float64) float64 { return i + 1 }), 0, 0.001953125, true},
		{"five of one sign", sequence(5, func(i float64) float64 { return -i - 1 }), 0, 0.0625, true},
	} {
		r := wilcoxon(t, c.diff)
		checkClose(t, c.name+" W", r.W, c.w, 0)
		checkClose(t, c.name+" P", r.P, c.p, 1e-13)
		if r.Exact != c.exact {
			t.Errorf("%s: exact is %t", c.name, r.Exact)
		}
	}
}

// P by its definition: the share of the 2^n sign patterns of the same absolute values
// whose smaller rank sum is no larger. The mid-rank of a value is counted pair by pair.
func TestExactWilcoxonEqualsEnumeration(t *testing.T) {
	rng := newRNG(51)
	for n := 1; n <= 12; n++ {
		for distinct := 1; distinct <= n+1; distinct++ {
			d := make([]float64, n)
			for i := range d {
				d[i] = float64(1+rng.IntN(distinct)) * float64(1-2*rng.IntN(2))
				if distinct > n {
					d[i] = rng.NormFloat64()
				}
			}
			r := wilcoxon(t, d)
			checkClose(t, "P", r.P, enumeratedWilcoxon(d), 1e-15)
			if !r.Exact || r.P < math.Ldexp(1, 1-n) {
				t.Errorf("%v: %+v", d, r)
			}
		}
	}
}

func enumeratedWilcoxon(d []float64) float64 {
	n := len(d)
	twice := make([]int, n) // mid-ranks
	for i, a := range d {
		for _, b := range d {
			switch a, b := math.Abs(a), math.Abs(b); {
			case b < a:
				twice[i] += 2
			case b == a:
				twice[i]++
			}
		}
		twice[i]++
	}
	observed, most := 0, n*(n+1)
	for i, v := range d {
		if v > 0 {
			observed += twice[i]
		}
	}
	count := 0
	for signs := range 1 << n {
		sum := 0
		for i := range n {
			sum += (signs >> i & 1) * twice[i]
		}
		if min(sum, most-sum) <= min(observed, most-observed) {
			count++
		}
	}
	return float64(count) / float64(int(1)<<n)
}

// Differences of one size are coin flips: the signed-rank test is then the sign test, at
// every n. By SciPy 1.17.1, stats.binomtest(k, n).pvalue.
func TestWilcoxonOfOneSizeIsTheSignTest(t *testing.T) {
	for _, c := range []struct {
		plus, n int
		p       float64
	}{
		{0, 5, 0.0625},
		{33, 51, 0.04887389231827033},
		{45, 60, 0.00013451408092849532},
		{130, 200, 2.6528755595268727e-05},
		{560, 1000, 0.00016504987055045286},
		{4900, 10000, 0.04658552770494645},
		{5, 10, 1.0},
	} {
		d := sequence(c.n, func(i float64) float64 {
			if int(i) < c.plus {
				return 0.3
			}
			return -0.3
		})
		r := wilcoxon(t, d)
		checkClose(t, "P", r.P, c.p, 1e-10*c.p)
		if !r.Exact {
			t.Errorf("%d of %d: not exact", c.plus, c.n)
		}
	}
}

// By SciPy 1.17.1, stats.wilcoxon with method="asymptotic": more tied differences than
// can be counted are normal.
func TestWilcoxonOfManyTiedDifferences(t *testing.T) {
	d := sequence(3000, func(i float64) float64 { return math.Floor(5*math.Sin((i+1)*1.3) + 0.65) })
	r := wilcoxon(t, d)
	checkClose(t, "W", r.W, 1945411, 0)
	checkClose(t, "P", r.P, 0.1826713277281291, 1e-12)
	if r.Exact {
		t.Error("3,000 are exact")
	}
	few := wilcoxon(t, d[:300])
	pos, neg := splitBySign(d[:300])
	checkClose(t, "exact and normal P", few.P, normalWilcoxon(blocks(pos, neg), few.N, few.W), 0.01)
	if !few.Exact {
		t.Error("300 with ties are not exact")
	}
}

func TestWilcoxonDropsZeros(t *testing.T) {
	a, b := wilcoxon(t, []float64{3, 0, -1, 2, 0, 0, 7}), wilcoxon(t, []float64{3, -1, 2, 7})
	if a.Zeros != 3 || b.Zeros != 0 {
		t.Errorf("zeros %d and %d, want 3 and 0", a.Zeros, b.Zeros)
	}
	a.Zeros = 0
	if a != b {
		t.Errorf("with zeros %+v, without %+v", a, b)
	}
}

func TestWilcoxonIsSymmetricInTheSign(t *testing.T) {
	d := []float64{1.5, -0.3, 2.1, 0.7, -1.1, 3.3, 0.2, -0.6, 2.8, 1.9}
	a, b := wilcoxon(t, d), wilcoxon(t, mapValues(d, func(v float64) float64 { return -v }))
	if a.P != b.P || a.WPlus != b.WMinus || a.RankBiserial != b.RankBiserial || a.SignedRankBiserial != -b.SignedRankBiserial {
		t.Errorf("%+v is not the mirror of %+v", b, a)
	}
	if a.WPlus+a.WMinus != 55 || a.SignedRankBiserial <= 0 {
		t.Errorf("rank sums %v and %v, signed r %v", a.WPlus, a.WMinus, a.SignedRankBiserial)
	}
}

// The two values that the acceptance list asks for, and the formula in between.
func TestRankBiserialIsOneForOneSignAndZeroForEqualSums(t *testing.T) {
	for _, c := range []struct{ w, want float64 }{{0, 1}, {27.5, 0}, {10, 1 - 40.0/110}} {
		if r := RankBiserial(10, c.w); r != c.want {
			t.Errorf("RankBiserial(10, %v) = %v, want %v", c.w, r, c.want)
		}
	}
	for _, r := range []float64{RankBiserial(0, 0), RankBiserial(10, 28), RankBiserial(10, -1), RankBiserial(3, math.NaN())} {
		if !math.IsNaN(r) {
			t.Errorf("impossible input gives %v, want NaN", r)
		}
	}
}
