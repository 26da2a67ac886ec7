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

// SciPy 1.17.1, stats.wilcoxon: defaults without ties, method="asymptotic" with
// ties or n > 50, method="exact" for n = 50.
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
		{"ties and a zero", []float64{1, -1, 2, 2, 3, -3, 4, 5, 0, 6, 7, -2}, 12, 0.06111155867536276, false},
		{"n = 50", wave(50, 0.25), 369, 0.008848884696840642, true},
		{"n = 60", wave(60, 0.2), 591, 0.017071723791291522, false},
		{"ten of one sign", sequence(10, func(i float64) float64 { return i + 1 }), 0, 0.001953125, true},
		{"five of one sign", sequence(5, func(i float64) float64 { return -i - 1 }), 0, 0.0625, true},
	} {
		r := wilcoxon(t, c.diff)
		near(t, c.name+" W", r.W, c.w, 0)
		near(t, c.name+" P", r.P, c.p, 1e-13)
		if r.Exact != c.exact {
			t.Errorf("%s: exact is %t", c.name, r.Exact)
		}
	}
}

// All 2^n sign patterns of the ranks 1 ... n.
func TestExactWilcoxonEqualsEnumeration(t *testing.T) {
	for n := 1; n <= 12; n++ {
		most := n * (n + 1) / 2
		atMost := make([]float64, most+1)
		for signs := range 1 << n {
			sum := 0
			for r := range n {
				sum += (signs >> r & 1) * (r + 1)
			}
			for w := sum; w <= most; w++ {
				atMost[w]++
			}
		}
		for w := 0; w <= most/2; w++ {
			want := math.Min(1, 2*atMost[w]/float64(int(1)<<n))
			near(t, "P", exactWilcoxon(n, w), want, 1e-15)
		}
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
	a, b := wilcoxon(t, d), wilcoxon(t, of(d, func(v float64) float64 { return -v }))
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
