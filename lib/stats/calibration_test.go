package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// uniform fails when 1000 p-values of seeded null data are not uniform. The
// level 0.001 is about the seed alone: a test that is off shows far less.
func uniform(t *testing.T, seed uint64, p func(rng *rand.Rand) float64) {
	t.Helper()
	rng := newRNG(seed)
	ps := make([]float64, 1000)
	for i := range ps {
		ps[i] = p(rng)
	}
	d, pv, err := KSUniform(ps)
	must(t, err)
	if pv < 0.001 {
		t.Errorf("p-values are not uniform under the null: D = %.4f, P = %.2g", d, pv)
	}
}

// covers fails when intervals hold the truth outside [lowest, highest].
func covers(t *testing.T, seed uint64, reps int, truth, lowest, highest float64, interval func(rng *rand.Rand) (low, high float64)) {
	t.Helper()
	rng := newRNG(seed)
	hits := 0
	for range reps {
		if low, high := interval(rng); low <= truth && truth <= high {
			hits++
		}
	}
	if c := float64(hits) / float64(reps); c < lowest || c > highest {
		t.Errorf("coverage %.4f over %d replications, want %v to %v", c, reps, lowest, highest)
	}
}

func TestMannWhitneyIsUniformUnderTheNull(t *testing.T) {
	uniform(t, 101, func(rng *rand.Rand) float64 { return mw(t, normals(rng, 60, 0), normals(rng, 80, 0)).P })
}

func TestExactMannWhitneyIsUniformUnderTheNull(t *testing.T) {
	uniform(t, 102, func(rng *rand.Rand) float64 {
		r := mw(t, normals(rng, 8, 0), normals(rng, 200, 0))
		if !r.Exact {
			t.Fatal("not exact")
		}
		return r.P
	})
}

func TestExactWilcoxonIsUniformUnderTheNull(t *testing.T) {
	uniform(t, 103, func(rng *rand.Rand) float64 { return wilcoxon(t, normals(rng, 40, 0)).P })
}

func TestNormalWilcoxonIsUniformUnderTheNull(t *testing.T) {
	uniform(t, 104, func(rng *rand.Rand) float64 { return wilcoxon(t, normals(rng, 120, 0)).P })
}

func TestRandomInterceptStudentIsUniformUnderTheNull(t *testing.T) {
	uniform(t, 105, func(rng *rand.Rand) float64 {
		y, g := simulateGroups(rng, 10, 10, 1, 1)
		return fit(t, y, g, 0).PT
	})
}

func TestUnbalancedRandomInterceptStudentIsUniformUnderTheNull(t *testing.T) {
	uniform(t, 106, func(rng *rand.Rand) float64 {
		y, g := simulateGroups(rng, 10, 10, 1, 1)
		return fit(t, y[:len(y)-4], g[:len(y)-4], 0).PT
	})
}

// With 10 groups Wald's z rejects a true null more often than it says: in theory
// P(|t_9| > 1.96) = 0.082 instead of 0.05.
func TestWaldZIsTooOptimisticWithTenGroups(t *testing.T) {
	rng := newRNG(107)
	wald, student := 0, 0
	const reps = 4000
	for range reps {
		y, g := simulateGroups(rng, 10, 10, 1, 1)
		m := fit(t, y, g, 0)
		if m.PZ < 0.05 {
			wald++
		}
		if m.PT < 0.05 {
			student++
		}
	}
	checkClose(t, "false alarms of Wald's z", float64(wald)/reps, 0.082, 0.012)
	checkClose(t, "false alarms of Student's t", float64(student)/reps, 0.05, 0.01)
}

func TestDeLongCovers(t *testing.T) {
	truth := math.Erfc(-0.5/math.Sqrt2) / 2 // P(N(sqrt(1/2), 1) > N(0, 1)) = Phi(1/2)
	covers(t, 111, 2000, truth, 0.93, 0.97, func(rng *rand.Rand) (low, high float64) {
		e := delong(t, normals(rng, 100, math.Sqrt(0.5)), normals(rng, 150, 0))
		return e.Low, e.High
	})
}

func TestDeLongCoversWithTies(t *testing.T) {
	covers(t, 112, 2000, 0.5, 0.93, 0.97, func(rng *rand.Rand) (low, high float64) {
		e := delong(t, tied(rng, 100, 5), tied(rng, 100, 5))
		return e.Low, e.High
	})
}

func TestMeanIntervalCovers(t *testing.T) {
	covers(t, 113, 4000, 2, 0.94, 0.96, func(rng *rand.Rand) (low, high float64) {
		e := MeanInterval(normals(rng, 5, 2), 0.95, "seeds")
		return e.Low, e.High
	})
}

func TestRandomInterceptIntervalCovers(t *testing.T) {
	covers(t, 114, 2000, -0.3, 0.93, 0.97, func(rng *rand.Rand) (low, high float64) {
		y, g := simulateGroups(rng, 10, 5, 1, 0.5)
		m := fit(t, y, g, 0.3)
		return m.Low, m.High
	})
}

func TestAdvantageIntervalCovers(t *testing.T) {
	truth := math.Erfc(-0.5/math.Sqrt2) - 1
	covers(t, 115, 600, truth, 0.92, 0.98, func(rng *rand.Rand) (low, high float64) {
		e, err := AdvantageInterval(normals(rng, 100, math.Sqrt(0.5)), normals(rng, 100, 0), 0.95, 400, rng)
		must(t, err)
		return e.Low, e.High
	})
}

func TestPercentileBootstrapCoversAMean(t *testing.T) {
	covers(t, 116, 600, 0, 0.92, 0.98, func(rng *rand.Rand) (low, high float64) {
		x := normals(rng, 60, 0)
		low, high, err := PercentileInterval(Bootstrap(60, 400, rng, meanAt(x)), 0.95)
		must(t, err)
		return low, high
	})
}

// The logarithm of a sample variance is biased and skewed, which is what BCa is
// for: it covers more often than the percentile interval on the same data.
func TestBCaCoversASkewedStatisticBetterThanPercentiles(t *testing.T) {
	rng := newRNG(117)
	const n, reps = 40, 500
	bca, percentile := 0, 0
	for range reps {
		x := normals(rng, n, 0)
		variance := func(idx []int) float64 {
			s, ss := 0.0, 0.0
			for _, i := range idx {
				s += x[i]
				ss += x[i] * x[i]
			}
			k := float64(len(idx))
			return (ss - s*s/k) / k
		}
		e, err := BCa(n, 600, rng, 0.95, variance)
		must(t, err)
		low, high, err := PercentileInterval(Bootstrap(n, 600, rng, variance), 0.95)
		must(t, err)
		if e.Low <= 1 && 1 <= e.High {
			bca++
		}
		if low <= 1 && 1 <= high {
			percentile++
		}
	}
	if c := float64(bca) / reps; c < 0.9 || c > 0.97 {
		t.Errorf("BCa covers %.3f", c)
	}
	if bca <= percentile {
		t.Errorf("BCa covers %d of %d, percentiles %d", bca, reps, percentile)
	}
}

func TestBCaCoversAMean(t *testing.T) {
	covers(t, 118, 500, 0, 0.92, 0.98, func(rng *rand.Rand) (low, high float64) {
		e, err := BCa(60, 400, rng, 0.95, meanAt(normals(rng, 60, 0)))
		must(t, err)
		return e.Low, e.High
	})
}
