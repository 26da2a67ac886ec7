package sde

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

// The factor is what bisection finds, and it makes the exact mean of the statistic
// the same, whatever the set was like before.
func TestMatchingGivesEverySetTheSameMean(t *testing.T) {
	const level, sigma = 0.2, 2.0
	for seed, scale := range []float64{0.01, 0.5, 1, 1.05, 3, 40} {
		m := random(uint64(seed), 41, 6, scale)
		h := halvesOf(m, sigma)
		low, high := 0.0, 1e3
		for range 200 {
			if c := (low + high) / 2; spreadOf(t, m, c, sigma) < level {
				low = c
			} else {
				high = c
			}
		}
		c := h.factor(level)
		checkClose(t, "factor", c/low, 1, 1e-10)
		d := matchedDistribution(m, level, sigma, Options{Permutations: 5}, rand.New(rand.NewPCG(1, 1)))
		checkClose(t, "exact mean", d.ExactMean*float64(d.N-1), level*level, 1e-13)
	}
}

// spreadOf is the geometric mean of the halves' spreads of a scaled set, by way of
// the centred kernels.
func spreadOf(t *testing.T, m *Matrix, c, sigma float64) float64 {
	t.Helper()
	scaled := array.New[float64](m.Rows, m.Cols)
	for i, v := range m.Data {
		scaled.Data[i] = c * v
	}
	d := splitHalfOf(t, &scaled, Options{Bandwidth: Fixed(sigma), Permutations: 2})
	return math.Sqrt(d.Spread[0] * d.Spread[1])
}

// sample is one set of n records; half is 0 or 1 for the records of either half.
type sample func(rng *rand.Rand, n int) *Matrix

// accuracyOf judges sets of either distribution against references of both distributions, again and
// again, and returns the share of right verdicts over the trials.
func accuracyOf(t *testing.T, m Method, inside, outside sample, sets int) stats.Estimate {
	t.Helper()
	const trials, n = 40, 60
	var right []float64
	for k := range trials {
		rng := rand.New(rand.NewPCG(uint64(k), 78))
		refs := References{In: inside(rng, n), Out: outside(rng, n)}
		var c Confusion
		for s := range sets {
			for _, one := range []struct {
				of sample
				to *Tally
			}{{inside, &c.Inside}, {outside, &c.Outside}} {
				d, err := JudgeBy(m, one.of(rng, n), refs, Options{Bandwidth: Fixed(4), Seed: uint64(1000*k + s)})
				if err != nil {
					t.Fatal(err)
				}
				*one.to = one.to.Plus((&SubsetVerdicts{Verdicts: []Verdict{d.Verdict()}}).Tally())
			}
		}
		right = append(right, c.Accuracy())
	}
	return stats.MeanInterval(right, 0.99, "trials")
}

func gaussians(scale float64) sample {
	return func(rng *rand.Rand, n int) *Matrix { return population(rng, n, 16, scale) }
}

// Planted: the two distributions differ by their spread and by nothing else. SDE tells them
// apart; matched, it is a coin.
func TestWithoutTheSpreadNothingIsLeftOfAPlantedSpread(t *testing.T) {
	wide, plain := gaussians(1.3), gaussians(1)
	if e := accuracyOf(t, SDE{}, wide, plain, 3); e.Low < 0.9 {
		t.Errorf("as they are: %v", e)
	}
	if e := accuracyOf(t, SpreadMatched{}, wide, plain, 6); e.Low > 0.5 || e.High < 0.5 {
		t.Errorf("matched: %v", e)
	}
}

// clusters have the records near two far centres, in place of one cloud.
func clusters(rng *rand.Rand, n int) *Matrix {
	m := population(rng, n, 16, 0.3)
	for i := range n {
		m.Row(i)[0] += 6 * float64(rng.IntN(2))
	}
	return m
}

// What is not spread is left: sets of another shape are told apart after matching,
// and exchanged roles flip the answer.
func TestAShapeOutlivesMatching(t *testing.T) {
	if e := accuracyOf(t, SpreadMatched{}, clusters, gaussians(1), 3); e.Low < 0.9 {
		t.Errorf("two clusters against one cloud: %v", e)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	target, refs := clusters(rng, 60), References{In: clusters(rng, 60), Out: population(rng, 60, 16, 1)}
	for want, r := range map[Verdict]References{In: refs, Out: {In: refs.Out, Out: refs.In}} {
		if d, err := JudgeBy(SpreadMatched{}, target, r, Options{Bandwidth: Fixed(4)}); err != nil || d.Verdict() != want {
			t.Errorf("%+v (%v), want %s", d, err, want)
		}
	}
}

// pairs returns records of which number i of the second half is number i of the first,
// but for noise: a dependence between the halves as strong as can be. Each record by
// itself has the distribution of gaussians(1).
func pairs(rng *rand.Rand, n int) *Matrix {
	m := population(rng, n, 16, 1)
	for i := range n / 2 {
		a, b := m.Row(i), m.Row(i+n/2)
		for k := range a {
			b[k] = 0.99*a[k] + math.Sqrt(1-0.99*0.99)*b[k]
		}
	}
	return m
}

// The dependence that the paper's name speaks of is no help to either: the random
// orders destroy it before anything is compared. The ordinary test of independence
// sees it at once.
func TestPairedDependenceIsSeenByNeither(t *testing.T) {
	for _, m := range []Method{SDE{}, SpreadMatched{}} {
		if e := accuracyOf(t, m, pairs, gaussians(1), 6); e.Low > 0.5 || e.High < 0.5 {
			t.Errorf("%s: %v", m.Name(), e)
		}
	}
	x := pairs(rand.New(rand.NewPCG(1, 2)), 60)
	r, err := IndependenceTest(rowsOf(x, 0, 30), rowsOf(x, 30, 60), Fixed(4), 199, rand.New(rand.NewPCG(3, 4)))
	if err != nil || r.P != 1.0/200 {
		t.Errorf("the pairs have p = %v (%v)", r.P, err)
	}
}

func TestMatchingDoesNotDependOnTheScaleOfATarget(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	target, refs := population(rng, 60, 16, 1), References{In: population(rng, 60, 16, 1.4), Out: population(rng, 60, 16, 1)}
	for _, opt := range []Options{{}, {FreshSplits: true}, {Divergence: NormalDistributions}} {
		want, err := JudgeBy(SpreadMatched{}, target, refs, opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, factor := range []float64{0.1, 1.05, 3} {
			scaled := Matrix{Rows: target.Rows, Cols: target.Cols, Data: slices.Clone(target.Data)}
			for i := range scaled.Data {
				scaled.Data[i] *= factor
			}
			got, err := JudgeBy(SpreadMatched{}, &scaled, refs, opt)
			if err != nil || math.Abs(got.In-want.In) > 1e-6 || math.Abs(got.Out-want.Out) > 1e-6 {
				t.Errorf("times %v: %+v, want %+v (%v)", factor, got, want, err)
			}
		}
	}
}

func TestASetWithoutSpreadCannotBeMatched(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	refs, equal := References{In: population(rng, 20, 4, 1), Out: population(rng, 20, 4, 1)}, array.New[float64](20, 4)
	d, err := JudgeBy(SpreadMatched{}, &equal, refs, Options{})
	if err != nil || d != (Distances{math.Ln2, math.Ln2}) || d.Verdict() != Undecided {
		t.Errorf("%+v (%v)", d, err)
	}
	refs.In = &equal
	if _, err := JudgeBy(SpreadMatched{}, population(rng, 20, 4, 1), refs, Options{}); err == nil || !strings.Contains(err.Error(), "reference are equal") {
		t.Errorf("%v", err)
	}
	if _, err := (SpreadMatched{}).Prepare(nil, refs, Options{}); err == nil || !strings.Contains(err.Error(), "pool of targets is missing") {
		t.Errorf("%v", err)
	}
}
