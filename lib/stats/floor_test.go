package stats

import (
	"math"
	"testing"
)

// SciPy 1.17.1: the exact distribution behind mannwhitneyu, summed over U.
func TestExactChanceFloorMatchesSciPy(t *testing.T) {
	for _, c := range []struct {
		m, n      int
		mean, p95 float64
	}{
		{5, 7, 0.284992784992785, 0.657142857142857},
		{20, 30, 0.13473296885841046, 0.33},
		{3, 200, 0.2735277424514747, 0.653333333333333},
	} {
		for _, f := range []Floor{ChanceFloor(c.m, c.n), ChanceFloor(c.n, c.m)} {
			checkClose(t, "mean", f.Mean, c.mean, 1e-12)
			checkClose(t, "p95", f.P95, c.p95, 1e-12)
		}
	}
}

// Enumerated by hand: with one record each, |2 AUC - 1| is always 1.
func TestChanceFloorOfOnePairIsOne(t *testing.T) {
	if f := ChanceFloor(1, 1); f.Mean != 1 || f.P95 != 1 {
		t.Errorf("floor %+v, want 1 and 1", f)
	}
}

// One positive among n negatives: U is uniform, so |2 AUC - 1| nearly is.
func TestChanceFloorOfOnePositiveIsUniform(t *testing.T) {
	f := ChanceFloor(1, 2_000_000)
	checkClose(t, "mean", f.Mean, 0.5, 2e-5)
	checkClose(t, "p95", f.P95, 0.95, 2e-5)
}

func TestChanceFloorAgreesWithSimulation(t *testing.T) {
	rng := newRNG(31)
	for _, c := range [][2]int{{1, 5}, {4, 9}, {20, 21}, {21, 21}, {30, 200}, {100, 100}} {
		f, mc := ChanceFloor(c[0], c[1]), ChanceFloorMC(c[0], c[1], 20_000, rng)
		// Standard error of the mean: 0.6 sd/sqrt(20000), 0.004 of the mean. P95 can be
		// one step of the lattice 2/(mn) off when its probability is close to 0.95.
		step := 1.01 * 2 / float64(c[0]*c[1])
		if math.Abs(f.Mean/mc.Mean-1) > 0.02 || math.Abs(f.P95-mc.P95) > math.Max(step, 0.04*f.P95) {
			t.Errorf("%v: closed form %+v, simulation %+v", c, f, mc)
		}
	}
}

func TestNormalFloorContinuesTheExactOne(t *testing.T) {
	exact, normal := exactFloor(20, 25), normalFloor(20, 25)
	checkClose(t, "mean", normal.Mean/exact.Mean, 1, 0.01)
	checkClose(t, "p95", normal.P95/exact.P95, 1, 0.01)
}

func TestChanceFloorBoundsTheAdvantageOfNoise(t *testing.T) {
	rng := newRNG(32)
	f := ChanceFloor(40, 60)
	sum, above := 0.0, 0
	const reps = 4000
	for range reps {
		a, err := Advantage(normals(rng, 40, 0), normals(rng, 60, 0))
		must(t, err)
		sum += a.Unsigned
		if a.Unsigned > f.P95 {
			above++
		}
	}
	checkClose(t, "mean advantage of noise", sum/reps/f.Mean, 1, 0.03)
	checkClose(t, "share above P95", float64(above)/reps, 0.05, 0.011)
}

// SciPy 1.17.1, binom(2n, 1/2) summed.
func TestBalancedChanceFloorMatchesTheBinomial(t *testing.T) {
	for _, c := range []struct {
		n         int
		mean, p95 float64
	}{{1, 0.25, 0.5}, {10, 0.08809852600097659, 0.2}, {40, 0.044463939386953616, 0.1125}, {1000, 0.008919505572927155, 0.022}} {
		f := ChanceFloorBalanced(c.n)
		checkClose(t, "mean", f.Mean, c.mean, 1e-12)
		checkClose(t, "p95", f.P95, c.p95, 1e-12)
	}
}

func TestFloorsOfImpossibleSizesAreNaN(t *testing.T) {
	for _, f := range []Floor{
		ChanceFloor(0, 5), ChanceFloor(5, -1), ChanceFloorBalanced(0), ChanceFloorMC(0, 5, 10, newRNG(1)),
		ChanceFloorMC(5, 5, 0, newRNG(1)), ChanceFloorMC(5, 5, 10, nil),
	} {
		if !math.IsNaN(f.Mean) || !math.IsNaN(f.P95) {
			t.Errorf("floor %+v, want NaN", f)
		}
	}
}
