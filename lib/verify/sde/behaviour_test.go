package sde

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

func TestIndependenceTestIsCalibratedUnderTheNull(t *testing.T) {
	const trials = 300
	var p []float64
	for s := range uint64(trials) {
		r, err := IndependenceTest(random(2*s, 16, 2, 1), random(2*s+1, 16, 2, 1), SqrtDim(), 99, rand.New(rand.NewPCG(s, 3)))
		if err != nil {
			t.Fatal(err)
		}
		p = append(p, r.P)
	}
	// p is uniform on 1/100 ... 1: compare with the middle of the steps.
	slices.Sort(p)
	worst := 0.0
	for i, v := range p {
		worst = max(worst, math.Abs(v-0.005-(float64(i)+0.5)/trials))
	}
	if bound := 1.63/math.Sqrt(trials) + 0.01; worst > bound { // Kolmogorov's 1 % point
		t.Errorf("the distribution of p is %v away from uniform, more than %v", worst, bound)
	}
}

func TestIndependenceTestFindsPlantedDependence(t *testing.T) {
	x := random(1, 60, 2, 1)
	y := array.New[float64](60, 1)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range y.Data {
		r := x.Row(i)
		y.Data[i] = r[0]*r[0] + 0.1*rng.NormFloat64() // no correlation, but dependence
	}
	r, err := IndependenceTest(x, &y, MedianDistance(), 199, rng)
	if err != nil {
		t.Fatal(err)
	}
	if r.P != 1.0/200 || r.HSIC < r.NullMean+5*r.NullSD {
		t.Errorf("%+v", r)
	}
	equal, err := IndependenceTest(&array.Matrix[float64]{Rows: 8, Cols: 1, Data: make([]float64, 8)}, rowsOf(x, 0, 8), SqrtDim(), 50, rng)
	if err != nil || equal.P != 1 {
		t.Errorf("constant: %+v, %v", equal, err)
	}
}

// population is one draw of activations of a distribution that nothing was trained on.
func population(rng *rand.Rand, n, p int, scale float64) *Matrix {
	m := array.New[float64](n, p)
	for i := range m.Data {
		m.Data[i] = scale * rng.NormFloat64()
	}
	return &m
}

// untrained counts, over independent trials with no model at all, how often a
// target is judged out of training, when the in-training reference is the same
// distribution on another scale.
func untrained(t *testing.T, scale float64, trials int, opt Options) stats.Estimate {
	t.Helper()
	out := 0
	for k := range trials {
		rng := rand.New(rand.NewPCG(uint64(k), 77))
		opt.Seed = uint64(k)
		target, in, ref := population(rng, 200, 32, 1), population(rng, 200, 32, scale), population(rng, 200, 32, 1)
		r, err := Judge(target, References{In: in, Out: ref}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if r.Verdict == Out {
			out++
		}
	}
	return stats.Wilson(float64(out)/float64(trials), trials, 0.95)
}

func TestScaleAloneDecidesThoughNothingWasTrained(t *testing.T) {
	for _, d := range []Divergence{SharedBins, KernelDensity, NormalDistributions} {
		if e := untrained(t, 1.05, 40, Options{Divergence: d}); e.Value < 0.9 {
			t.Errorf("%s: scaled by 5 %%, judged out: %v", d, e)
		}
	}
	if e := untrained(t, 1.05, 40, Options{Bins: 10}); e.Value < 0.9 {
		t.Errorf("10 bins: %v", e)
	}
}

func TestWithoutAnyDifferenceVerdictsAreACoin(t *testing.T) {
	if e := untrained(t, 1, 100, Options{Permutations: 100}); e.Low > 0.5 || e.High < 0.5 {
		t.Errorf("judged out: %v", e)
	}
}

func TestSpreadAndClosedFormJudgeAsSDEDoes(t *testing.T) {
	targets, refs := planted(t, 1.05)
	var verdicts [][]Verdict
	for _, m := range []Method{SDE{}, SpreadOnly{}, ClosedForm{}} {
		j, err := JudgeSubsets(m, targets, refs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		verdicts = append(verdicts, j.Verdicts)
	}
	for k, v := range verdicts[1:] {
		same := 0
		for i := range v {
			if v[i] == verdicts[0][i] {
				same++
			}
		}
		if same < 32 {
			t.Errorf("control %d agrees on %d of 40 subsets", k, same)
		}
	}
}

// planted is a pool of the distribution of the out-of-training reference, with 40
// subsets; the in-training reference is wider.
func planted(t *testing.T, scale float64) (Targets, References) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	pool, err := NewPool("forget", population(rng, 400, 16, 1))
	if err != nil {
		t.Fatal(err)
	}
	subsets, err := DrawSubsets(400, 200, 40, rng)
	if err != nil {
		t.Fatal(err)
	}
	in, out := population(rng, 200, 16, scale), population(rng, 200, 16, 1)
	return Targets{pool, subsets}, References{In: in, Out: out}
}

func TestEveryMethodFindsAPlantedDifference(t *testing.T) {
	targets, refs := planted(t, 1.3)
	for _, m := range Methods() {
		r, err := OTR(m, targets, refs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.OTR.Value != 1 || r.OTR.Low < 0.9 || r.OTR.High < 1-1e-12 || r.OTR.Over != "subsets" || r.Verdicts.Disjoint != 2 {
			t.Errorf("%s: OTR %v, %d disjoint", m.Name(), r.OTR, r.Verdicts.Disjoint)
		}
		back, err := OTR(m, targets, References{In: refs.Out, Out: refs.In}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if back.OTR.Value != 0 {
			t.Errorf("%s: with exchanged references OTR is %v", m.Name(), back.OTR)
		}
		if g := r.Verdicts.Gate; g != nil && (!g.Valid || back.Verdicts.Gate.Valid) {
			t.Errorf("%s: gates %+v and %+v", m.Name(), g, back.Verdicts.Gate)
		}
	}
}

func TestWhatAPoolKeepsChangesNoBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	m := population(rng, 300, 20, 1)
	in, out := population(rng, 100, 20, 1.02), population(rng, 100, 20, 1)
	subsets, err := DrawSubsets(300, 100, 30, rng)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range Methods() {
		kept, err := NewPool("forget", m)
		if err != nil {
			t.Fatal(err)
		}
		// Kernel values, the same again, distances for another bandwidth and for all.
		for _, opt := range []Options{{Seed: 4}, {Seed: 5}, {Bandwidth: Fixed(2)}, {Seed: 4}, {FreshSplits: true, Permutations: 5}} {
			all, err1 := JudgeSubsets(method, Targets{kept, subsets}, References{In: in, Out: out}, opt)
			fresh, err2 := NewPool("forget", m)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			few, err := JudgeSubsets(method, Targets{fresh, subsets[:2]}, References{In: in, Out: out}, opt)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(all.Distances[:2], few.Distances) {
				t.Errorf("%s, %+v: %v from a pool that keeps values, %v without", method.Name(), opt, all.Distances[:2], few.Distances)
			}
			if fresh.all != nil {
				t.Error("two subsets do not pay for all pairs")
			}
		}
	}
}

func TestAPoolKeepsKernelValuesOfOneBandwidthAndDistancesForMore(t *testing.T) {
	p, err := NewPool("forget", random(1, 30, 4, 1))
	if err != nil {
		t.Fatal(err)
	}
	if all, _ := p.allPairs(2); all != nil {
		t.Error("computed for no subsets")
	}
	everything := rand.New(rand.NewPCG(1, 1)).Perm(30)
	p.expect([][]int{everything, everything})
	first, kernel := p.allPairs(2)
	again, _ := p.allPairs(2)
	if first == nil || first != again || !kernel {
		t.Errorf("kernel values: %t, kept: %t", kernel, first == again)
	}
	for i := range 4 {
		want := math.Expm1(-p.cloud.distances(1).Row(20)[i] / 8)
		checkClose(t, "kernel", first.Row(20)[i], want, 1e-15)
		checkClose(t, "kernel, the other way round", first.Row(i)[20], want, 1e-15)
	}
	other, kernel := p.allPairs(3)
	back, _ := p.allPairs(2)
	if kernel || other == first || back != other {
		t.Errorf("a second bandwidth: kernel values %t, kept %t", kernel, back == other)
	}
}

func TestPoolAndJudgeAgree(t *testing.T) {
	m, in, out := random(1, 60, 5, 1), random(2, 60, 5, 1.1), random(3, 60, 5, 1)
	pool, err := NewPool("target", m)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]int, 60)
	for i := range rows {
		rows[i] = i
	}
	for _, opt := range []Options{{}, {FreshSplits: true}, {Bandwidth: MedianDistance(), Seed: 3}} {
		r, err1 := Judge(m, References{In: in, Out: out}, opt)
		j, err2 := JudgeSubsets(SDE{}, Targets{pool, [][]int{rows}}, References{In: in, Out: out}, opt)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if r.JSD != j.Distances[0] || r.Gate != *j.Gate || r.Verdict != j.Verdicts[0] {
			t.Errorf("%+v and %+v", r, j)
		}
	}
}

func TestControlledCountsWithKnownTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	inside, err1 := NewPool("inside", population(rng, 300, 16, 1.2))
	outside, err2 := NewPool("outside", population(rng, 300, 16, 1))
	a, err3 := DrawSubsets(300, 100, 20, rng)
	b, err4 := DrawSubsets(300, 100, 20, rng)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := Controlled(SDE{}, KnownTargets{Inside: Targets{inside, a}, Outside: Targets{outside, b}}, References{In: population(rng, 100, 16, 1.2), Out: population(rng, 100, 16, 1)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []stats.Estimate{c.F1, c.Accuracy, c.MacroF1} {
		if e.Value != 1 || e.High < 1-1e-12 || !(e.Low > 0.8 && e.Low < 1) || !e.ExcludesNull() || e.N != 40 {
			t.Errorf("%v", e)
		}
	}
}

func judged(in, out, none int) *SubsetVerdicts {
	var j SubsetVerdicts
	for v, n := range map[Verdict]int{In: in, Out: out, Undecided: none} {
		for range n {
			j.Verdicts = append(j.Verdicts, v)
		}
	}
	return &j
}

func newControlledResult(inside, outside *SubsetVerdicts) *ControlledResult {
	c := &ControlledResult{Inside: inside, Outside: outside}
	c.summarise(0.95)
	return c
}

// scikit-learn 1.9.1: f1_score and accuracy_score on these counts, ties being out.
func TestRatesOfAKnownConfusion(t *testing.T) {
	c := newControlledResult(judged(8, 1, 1), judged(3, 5, 2))
	checkClose(t, "F1", c.F1.Value, 0.7619047619047619, 1e-15)            // 2*8/(2*8 + 3 + 2)
	checkClose(t, "accuracy", c.Accuracy.Value, 0.75, 1e-15)              // (8 + 7)/20
	checkClose(t, "macro-F1", c.MacroF1.Value, 0.7493734335839599, 1e-15) // out: 7 right, 2 false, 3 missed
	if got := c.Confusion(); got.F1() != c.F1.Value || got.Accuracy() != c.Accuracy.Value {
		t.Errorf("the counts give %v and %v", got.F1(), got.Accuracy())
	}
	for _, e := range []stats.Estimate{c.F1, c.Accuracy, c.MacroF1} {
		if !(0 <= e.Low && e.Low < e.Value && e.Value < e.High && e.High <= 1) {
			t.Errorf("%v", e)
		}
	}
}

func TestIntervalsOfRatesCoverTheTruth(t *testing.T) {
	const trials, m = 2000, 50
	rng := rand.New(rand.NewPCG(1, 4))
	for _, p := range [][2]float64{{0.5, 0.5}, {0.9, 0.2}, {0.98, 0.05}} {
		truth := mover(func(r, f float64) float64 { return 2 * r / (1 + r + f) }, stats.Estimate{Value: p[0]}, stats.Estimate{Value: p[1]}).Value
		covered := [2]int{}
		for range trials {
			var in, out int
			for range m {
				if rng.Float64() < p[0] {
					in++
				}
				if rng.Float64() < p[1] {
					out++
				}
			}
			c := newControlledResult(judged(in, m-in, 0), judged(out, m-out, 0))
			for k, e := range []stats.Estimate{c.F1, c.Accuracy} {
				want := []float64{truth, (p[0] + 1 - p[1]) / 2}[k]
				if e.Low <= want && want <= e.High {
					covered[k]++
				}
			}
		}
		for k, n := range covered {
			if share := float64(n) / trials; share < 0.93 || share > 0.98 {
				t.Errorf("rates %v, figure %d: covered in %v of the trials", p, k, share)
			}
		}
	}
}

func TestModelsCarryTheirOwnInterval(t *testing.T) {
	a, err := SummariseModels([]float64{0.87, 0.94, 0.9, 0.99, 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "mean", a.Mean.Value, 0.94, 1e-15)
	checkClose(t, "sd", a.SD, 0.05612486080160912, 1e-15)
	if a.Mean.Over != "models" || a.Mean.High != 1 || a.Mean.N != 5 {
		t.Errorf("%+v", a)
	}
	one, err := SummariseModels([]float64{0.5}, 0)
	if err != nil || one.SD != 0 || one.Mean.HasInterval() {
		t.Errorf("%+v, %v", one, err)
	}
	for _, bad := range [][]float64{nil, {1.1}, {math.NaN()}} {
		if _, err := SummariseModels(bad, 0); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
}

func TestDivergenceIsSymmetricZeroAndLn2(t *testing.T) {
	a, b, far := sequence(50, 1, 1, 0), sequence(50, 2, 1, 0.3), sequence(50, 3, 1, 50)
	for _, name := range Divergences() {
		opt := Options{Divergence: name}
		ab, err1 := Compare(a, Draws{In: b, Out: far}, opt)
		ba, err2 := Compare(b, Draws{In: a, Out: far}, opt)
		same, err3 := Compare(a, Draws{In: a, Out: a}, opt)
		if err1 != nil || err2 != nil || err3 != nil {
			t.Fatal(err1, err2, err3)
		}
		checkClose(t, fmt.Sprintf("%s, symmetry", name), ab.In, ba.In, 1e-14)
		checkClose(t, fmt.Sprintf("%s, itself", name), same.In, 0, 1e-15)
		if same.Verdict() != Undecided {
			t.Errorf("%s: equal samples are %s", name, same.Verdict())
		}
		if name != RawValues {
			checkClose(t, fmt.Sprintf("%s, disjoint", name), ab.Out, math.Ln2, 1e-9)
		}
	}
	rounded := []float64{1, 1 + 0x1p-52, 1 + 0x1p-51}
	for _, name := range Divergences() {
		d, err := Compare(rounded, Draws{In: []float64{1, 1, 1 + 0x1p-51}, Out: []float64{1 + 0x1p-52, 1, 1}}, Options{Divergence: name})
		if err != nil || d.In > 1e-15 || d.Out > 1e-15 {
			t.Errorf("%s of values that differ by rounding: %+v, %v", name, d, err)
		}
	}
	point, err := Compare([]float64{1, 1}, Draws{In: []float64{1, 1}, Out: []float64{0, 2}}, Options{Divergence: NormalDistributions})
	if err != nil || point.In != 0 || point.Out != math.Ln2 {
		t.Errorf("points: %+v, %v", point, err)
	}
}

// A divergence has no unit: the values of all sets times a power of two, which changes no digit, give the same number.
// Below a range of 1e-15 all but one were 0 before.
func TestDivergencesOfSmallValuesAreThoseOfLargeOnes(t *testing.T) {
	a, b, far := sequence(50, 1, 1, 0), sequence(50, 2, 1, 0.3), sequence(50, 3, 1, 50)
	scaled := func(x []float64, by float64) (out []float64) {
		for _, v := range x {
			out = append(out, v*by)
		}
		return out
	}
	for _, name := range Divergences() {
		want, err := Compare(a, Draws{In: b, Out: far}, Options{Divergence: name})
		if err != nil {
			t.Fatal(err)
		}
		for _, by := range []float64{0x1p-60, 0x1p-300} {
			if got, err := Compare(scaled(a, by), Draws{In: scaled(b, by), Out: scaled(far, by)}, Options{Divergence: name}); err != nil || got != want {
				t.Errorf("%s times %g: %+v, not %+v, %v", name, by, got, want, err)
			}
		}
	}
}

// Activations of a small spread under the paper's sigma for logits: values of 4e-16, whose digits are all there, were ties.
func TestASmallSpreadUnderAWideKernelIsJudged(t *testing.T) {
	opt := Options{Bandwidth: Fixed(LogitSigma)}
	for _, m := range []Method{SDE{}, ClosedForm{}} {
		wrong := 0
		for k := range 10 {
			rng := rand.New(rand.NewPCG(uint64(k), 41))
			refs := References{In: population(rng, 100, 10, 0.015), Out: population(rng, 100, 10, 0.01)}
			pool, err := NewPool("target", population(rng, 100, 10, 0.015))
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Prepare(pool, refs, opt)
			if err != nil {
				t.Fatal(err)
			}
			all := make([]int, 100)
			for i := range all {
				all[i] = i
			}
			if d := p.Compare(all, opt.stream(streamTarget)); d.Verdict() != In {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d of 10 targets with the spread of the in-training reference are not in", m.Name(), wrong)
		}
	}
}

func TestVerdictsOfTies(t *testing.T) {
	for d, want := range map[Distances]Verdict{{0.1, 0.2}: In, {0.2, 0.1}: Out, {0.1, 0.1}: Undecided, {math.Ln2, math.Ln2}: Undecided} {
		if got := d.Verdict(); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
