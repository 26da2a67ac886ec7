package stats

import (
	"math"
	"testing"
)

// SciPy 1.17.1, kstwo.sf(d, n); for n = 1000 its _kolmogn_DMTW in long double,
// since kstwo switches to an approximation there that is good to 1e-8.
func TestKolmogorovProbabilityMatchesSciPy(t *testing.T) {
	for _, c := range []struct {
		n            int
		d, want, tol float64
	}{
		{7, 0.3, 0.46626387699002947, 1e-12},
		{50, 0.12, 0.4337679661310233, 1e-12},
		{50, 0.3, 0.00017353260202718738, 1e-12},
		{1000, 0.03, 0.32269024641330943, 1e-12},
		{1000, 0.05, 0.013012071309982707, 1e-12},
		{2000, 0.09, 1.513205697118626e-14, 1e-12},
		{5000, 0.02, 0.03613941395325637, 1e-4},
	} {
		checkClose(t, "P", ksSurvival(c.n, c.d), c.want, c.tol)
	}
}

// SciPy 1.17.1, 2*ksone.sf(d, n): far out, where the limit is a million times too large.
func TestKolmogorovProbabilityHasItsDigitsInTheTail(t *testing.T) {
	for _, c := range []struct {
		n       int
		d, want float64
	}{
		{10, 0.96, 2.0971520000000185e-14},
		{10, 1, 0},
		{50, 0.5, 4.392853499119748e-12},
		{1000, 0.1, 3.703687096817711e-09},
		{5000, 0.05, 2.6523052328711187e-11},
		{100000, 0.0101, 2.738094647570014e-09},
	} {
		checkClose(t, "P", ksSurvival(c.n, c.d), c.want, 1e-8*c.want)
	}
	checkClose(t, "P at the seam", ksSurvival(100, 0.3000001), ksSurvival(100, 0.2999999), 1e-10)
}

// SciPy 1.17.1, kstest(|sin(1 ... 29)|, "uniform").
func TestKSUniformMatchesSciPy(t *testing.T) {
	d, p, err := KSUniform(sequence(29, func(i float64) float64 { return math.Abs(math.Sin(i + 1)) }))
	must(t, err)
	checkClose(t, "D", d, 0.27097749532953064, 1e-14)
	checkClose(t, "P", p, 0.022636716033214488, 1e-12)
}

func TestKSUniformOfOneValue(t *testing.T) {
	// D = max(v, 1-v), and P(D >= d) = 2(1-d).
	d, p, err := KSUniform([]float64{0.8})
	must(t, err)
	checkClose(t, "D", d, 0.8, 1e-15)
	checkClose(t, "P", p, 0.4, 1e-14)
}

func TestKSUniformSeesValuesThatAreNotUniform(t *testing.T) {
	rng := newRNG(81)
	p := make([]float64, 1000)
	for i := range p {
		p[i] = math.Pow(rng.Float64(), 1.3)
	}
	if _, pv, err := KSUniform(p); err != nil || pv > 1e-4 {
		t.Errorf("p = %v, %v", pv, err)
	}
}
