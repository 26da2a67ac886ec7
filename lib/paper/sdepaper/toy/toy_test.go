package toy

import (
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/verify/sde"
)

// noise is a matrix of independent standard normal numbers.
func noise(rows, cols int, seed engine.Root) sde.Matrix {
	m, rng := array.New[float64](rows, cols), seed.Stream("noise")
	for i := range m.Data {
		m.Data[i] = rng.NormFloat64()
	}
	return m
}

// probeOn looks at activations of n batches of a size, of which it measures m.
func probeOn(t *testing.T, act sde.Matrix, size, m int, seed int) *layerProbe {
	t.Helper()
	config := train.Config{Batch: size, Order: train.Fixed, Seed: engine.Root(seed)}
	full, err := config.Membership(0, act.Rows)
	if err != nil {
		t.Fatal(err)
	}
	sets, err := draw(full[:act.Rows/size], m, stream(seed))
	if err != nil {
		t.Fatal(err)
	}
	return &layerProbe{ctx: t.Context(), act: act, sets: sets, stream: stream(seed)}
}

func TestSetsAcrossTakeEveryRecordFromAnotherBatch(t *testing.T) {
	l := probeOn(t, noise(16*20, 1, 1), 16, 20, 3)
	of := map[int]int{}
	for k, b := range l.sets.all {
		for _, i := range b {
			of[i] = k
		}
	}
	for k := range l.sets.across {
		for _, set := range [][]int{l.sets.across[k], l.sets.across2[k]} {
			from := map[int]bool{}
			for _, i := range set {
				from[of[i]] = true
			}
			if len(set) != 16 || len(from) != 16 {
				t.Errorf("set %d has %d records from %d batches", k, len(set), len(from))
			}
		}
		if slices.Equal(l.sets.across[k], l.sets.across2[k]) {
			t.Errorf("the two sets across of batch %d are one", k)
		}
	}
	if _, err := draw(l.sets.all[:15], 3, stream(1)); err == nil {
		t.Error("16 records come from 15 different batches")
	}
}

// The permuter computes from pairs, SplitHalf from centred kernel matrices.
func TestPermutationsHaveTheExactMeanOfSplitHalf(t *testing.T) {
	for _, cols := range []int{1, 2, 7, 128} {
		act := noise(64, cols, engine.Root(cols))
		d, order := newPermuter(act), engine.Root(1).Stream("order").Perm(64)
		var want float64
		for k := range 4 {
			part := act.Gather(order[16*k : 16*(k+1)])
			h, err := sde.SplitHalf(&part, sde.Options{}, engine.Root(2).Stream("split"))
			if err != nil {
				t.Fatal(err)
			}
			want += h.ExactMean / 4
		}
		if got := d.mean(order, 16); math.Abs(got/want-1) > 1e-11 {
			t.Errorf("%d columns: %v from pairs, %v from kernel matrices", cols, got, want)
		}
	}
}

// exactDifferences are the differences of the exact means of sets, by pairs.
func exactDifferences(act sde.Matrix, a, b [][]int) []float64 {
	d, out := newPermuter(act), make([]float64, len(a))
	for k := range a {
		out[k] = d.mean(a[k], len(a[k])) - d.mean(b[k], len(b[k]))
	}
	return out
}

// In noise without batches every test with one number per batch must be valid: its p-values are
// uniform (the signed-rank test across against across, the permutation test for same batches).
func TestTestsWithOneNumberPerBatchAreCalibrated(t *testing.T) {
	const worlds, size, batches, deals = 1000, 8, 24, 39
	var ranks, permuted []float64
	for w := range worlds {
		act := noise(size*batches, 3, engine.Root(w))
		l := probeOn(t, act, size, batches, w)
		ranks = append(ranks, wilcoxon(exactDifferences(act, l.sets.across2, l.sets.across)))
		values, err := l.permutedMeans(deals)
		if err != nil {
			t.Fatal(err)
		}
		observed := newPermuter(act).mean(slices.Concat(l.sets.same...), size)
		permuted = append(permuted, poolPermutations([]float64{observed}, [][]float64{values}).P-1/float64(deals+1)) // the middle of its step
	}
	for name, p := range map[string][]float64{"signed-rank": ranks, "deals": permuted} {
		d, ks, err := stats.KSUniform(p)
		if err != nil {
			t.Fatal(err)
		}
		if ks < 0.001 {
			t.Errorf("%s: p-values of noise are not uniform, D = %.3f, p = %.1e", name, d, ks)
		}
	}
}

// The paper's test on single pairs of sets of one and the same noise: at 1 % it
// should reject once in a hundred.
func TestSinglePairTestRejectsInPureNoise(t *testing.T) {
	act := noise(64*64, 32, 5)
	layer, err := probeOn(t, act, 64, 30, 5).measure(19, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range layer.Contrasts {
		s := summarise([]Contrast{c})
		if s.SingleHigher+s.SingleLower < 0.2 {
			t.Errorf("%s: only %.2f and %.2f of single pairs are called different", c.Name, s.SingleHigher, s.SingleLower)
		}
		if s.Wilcoxon < 0.01 {
			t.Errorf("%s: signed-rank p %v in noise", c.Name, s.Wilcoxon)
		}
		if math.Abs(s.Identity.Value) > 0.8 || math.Abs(s.Rest.Value) > 1.5 {
			t.Errorf("%s: identity at %v, rest %v in noise", c.Name, s.Identity, s.Rest)
		}
	}
}

func TestFindsPlantedSpreadAndMisreadsPlantedDependence(t *testing.T) {
	act := noise(64*64, 32, 6)
	layer, err := probeOn(t, act, 64, 30, 6).measure(19, true)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Summary{}
	for _, c := range layer.Contrasts {
		by[c.Name] = summarise([]Contrast{c})
	}
	if s := by[Scaled]; s.OverBatches.Low < 2 || s.Wilcoxon > 1e-4 {
		t.Errorf("scaled by 5 %%: %v, p %v", s.OverBatches, s.Wilcoxon)
	}
	same, shift := by[Same], by[Shifted]
	if shift.OverBatches.High > -2 || shift.Wilcoxon > 1e-4 {
		t.Errorf("shared shift: %v, p %v", shift.OverBatches, shift.Wilcoxon)
	}
	if math.Abs(shift.A/same.A-1) > 1e-9 {
		t.Errorf("H of batches moves from %v to %v by a shift that all records share", same.A, shift.A)
	}
}

func TestIdentityOrderSeesPairsThatBelongTogether(t *testing.T) {
	act := noise(64*64, 8, 7)
	l := probeOn(t, act, 64, 12, 7)
	for _, rows := range l.sets.same { // record j of the second half is a near copy of record j of the first
		for j := range 32 {
			copy(act.Row(rows[32+j]), act.Row(rows[j]))
			act.Row(rows[32+j])[0] += 0.1
		}
	}
	layer, err := l.measure(1, false)
	if err != nil {
		t.Fatal(err)
	}
	if s := summarise(layer.Contrasts[:1]); s.Identity.Low < 3 {
		t.Errorf("halves that are copies: identity at %v standard deviations", s.Identity)
	}
}

// Golden values: scipy 1.17.1, stats.binomtest(k, n).pvalue.
func TestSignTestEqualsSciPy(t *testing.T) {
	for _, c := range []struct {
		k, n int
		p    float64
	}{{14, 40, 0.0806904677519924}, {20, 40, 1}, {401, 780, 0.4521198856283284}, {3, 50, 3.708322537931963e-11}} {
		diff := make([]float64, c.n+2) // the two zeros do not count
		for i := range c.n {
			diff[i] = -1
			if i < c.k {
				diff[i] = 1
			}
		}
		p, above := signTest(diff)
		if math.Abs(p/c.p-1) > 1e-10 || above.N != c.n || above.Value != float64(c.k)/float64(c.n) {
			t.Errorf("%d of %d: p %v, want %v; share %v", c.k, c.n, p, c.p, above)
		}
	}
	if p, above := signTest([]float64{0, 0}); p != 1 || !math.IsNaN(above.Value) {
		t.Errorf("no differences: p %v, share %v", p, above)
	}
}

func TestPermutationsAreRankedOnBothSides(t *testing.T) {
	permuted := [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 9}, {2, 4, 6, 8, 10, 12, 14, 16, 18}} // means 5 and 10
	for _, c := range []struct{ first, second, effect, p float64 }{
		{10, 20, 100, 0.2}, {0, 0, -100, 0.2}, {5, 10, 0, 1}, {6.5, 13, 30, 2 * 4.0 / 10},
	} {
		got := poolPermutations([]float64{c.first, c.second}, permuted)
		if math.Abs(got.Effect-c.effect) > 1e-9 || math.Abs(got.P-c.p) > 1e-12 {
			t.Errorf("observed %v and %v: effect %v, p %v, want %v and %v", c.first, c.second, got.Effect, got.P, c.effect, c.p)
		}
	}
}
