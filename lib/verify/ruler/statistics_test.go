package ruler

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// observations are 10 data sets by 4 seeds, the same in any language.
func observations(method int) []Observation {
	var out []Observation
	for d := range 10 {
		base := float64(hash01(d, 100) * 0.2)
		for s := range 4 {
			noise := float64(float64(hash01(4*d+s, method)*0.05) * float64(method))
			out = append(out, Observation{fmt.Sprintf("set %02d", d), s, 0.45 + base + noise})
		}
	}
	return out
}

// Golden numbers: statsmodels 0.15.0 MixedLM (REML) and SciPy 1.17.1 wilcoxon on
// the arrays of observations(7), against 0.5. statsmodels stops its optimiser
// early, hence the tolerance on the intraclass correlation.
func TestSummarizeEqualsStatsmodelsAndSciPy(t *testing.T) {
	s, err := Summarize(observations(7), 0.5)
	if err != nil {
		t.Fatal(err)
	}
	checkClose(t, "mean", s.Mean.Value, 0.7203598946364946, 1e-12)
	checkClose(t, "sd", s.SD, 0.11388901153868866, 1e-12)
	checkClose(t, "seed sd", s.SeedSD, 0.10267234786839541, 1e-12)
	checkClose(t, "mu", s.Mixed.Mu, 0.22035989463649455, 1e-9)
	checkClose(t, "standard error", s.Mixed.SE, 0.022949774204933767, 1e-7)
	checkClose(t, "p", s.Mixed.PZ, 7.853529981709031e-22, 1e-25)
	checkClose(t, "ICC", s.Mixed.ICC, 0.19976408071571666, 1e-5)
	checkClose(t, "W", s.Wilcoxon.W, 0, 0)
	checkClose(t, "p of Wilcoxon", s.Wilcoxon.P, 0.001953125, 0)
	checkClose(t, "rank-biserial", s.Wilcoxon.RankBiserial, 1, 0)
	if s.Effect != Large || len(s.DataSets) != 10 || s.DataSets[3].Name != "set 03" || s.DataSets[3].N != 4 {
		t.Errorf("effect %q, data sets %+v", s.Effect, s.DataSets)
	}
	if s.Mean.N != 10 || s.Mean.Over != "data sets" {
		t.Errorf("%d %s behind the interval, want 10 data sets of 40 runs", s.Mean.N, s.Mean.Over)
	}
	if !(s.Mean.Low > 0.5 && s.Mean.Low < s.Mean.Value && s.Mean.Value < s.Mean.High) || *s.Mean.Null != 0.5 {
		t.Errorf("interval %+v", s.Mean)
	}
}

func TestSummarizeReportsWhatTooFewDataAllow(t *testing.T) {
	one := observations(3)[:4]
	s, err := Summarize(one, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if s.Mixed != nil || s.Wilcoxon != nil || s.Effect != "" || s.Mean.Over != "seeds" || s.Mean.N != 4 || !s.Mean.HasInterval() {
		t.Errorf("one data set: %+v", s)
	}
	var single []Observation
	for _, o := range observations(3) {
		if o.Seed == 0 {
			single = append(single, o)
		}
	}
	s, err = Summarize(single, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	if s.Mixed != nil || s.Wilcoxon == nil || s.SeedSD != 0 || s.Mean.N != 10 || !s.Mean.HasInterval() {
		t.Errorf("one seed: %+v", s)
	}
}

func TestTheNullIsNotRejectedTooOftenOnDataSets(t *testing.T) {
	const trials = 400
	rejected := 0
	for k := range trials {
		obs := observations(1)
		for i := range obs {
			// symmetric about 0 within and between data sets
			obs[i].Value = (hash01(i/4, 1000+k) - 0.5) + 0.2*(hash01(i, 2000+k)-0.5)
		}
		s, err := Summarize(obs, 0)
		if err != nil {
			t.Fatal(err)
		}
		if s.Wilcoxon.P < 0.05 {
			rejected++
		}
	}
	if share := float64(rejected) / trials; share < 0.02 || share > 0.08 {
		t.Errorf("Wilcoxon on data-set means rejects a true null in %v of the trials", share)
	}
}

func TestEffectsHaveThePapersNames(t *testing.T) {
	for r, want := range map[float64]Effect{0: Negligible, 0.09: Negligible, 0.1: Small, 0.3: Medium, 0.5: Large, 1: Large, -0.4: Medium} {
		if got := ClassifyEffect(r); got != want {
			t.Errorf("effect of %v is %q, want %q", r, got, want)
		}
	}
}

func fourMethods(fraction float64, metric string) []Series {
	var out []Series
	for m := 1; m <= 4; m++ {
		out = append(out, Series{fraction, metric, fmt.Sprintf("method %d", m), observations(m)})
	}
	return out
}

// Golden numbers: SciPy 1.17.1, wilcoxon and false_discovery_control.
func TestPairwiseEqualsSciPy(t *testing.T) {
	cases := []struct {
		pairing     Pairing
		pairs       int
		p, adjusted []float64
	}{
		{OnRuns, 40,
			[]float64{7.137441571103409e-07, 5.723268259316683e-08, 1.634398358874023e-07, 0.005576999594268273, 0.0009411722930963151, 0.14990237551683094},
			[]float64{1.4274883142206818e-06, 3.4339609555900097e-07, 4.903195076622069e-07, 0.006692399513121927, 0.0014117584396444727, 0.14990237551683094}},
		{OnDataSets, 10,
			[]float64{0.001953125, 0.001953125, 0.001953125, 0.01953125, 0.009765625, 0.322265625},
			[]float64{0.00390625, 0.00390625, 0.00390625, 0.0234375, 0.0146484375, 0.322265625}},
	}
	for _, c := range cases {
		got, err := Pairwise(fourMethods(0.05, "m2"), c.pairing)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 6 {
			t.Fatalf("%d comparisons of four methods, want 6", len(got))
		}
		for k, g := range got {
			if g.Pairs != c.pairs {
				t.Errorf("%d pairs, want %d", g.Pairs, c.pairs)
			}
			checkClose(t, "p", g.Test.P, c.p[k], 1e-12)
			checkClose(t, "adjusted p", *g.Adjusted, c.adjusted[k], 1e-12)
		}
		if got[0].A != "method 1" || got[0].B != "method 2" || got[0].Difference >= 0 {
			t.Errorf("first comparison %+v", got[0])
		}
	}
}

func TestFamiliesHaveTheSizesOfThePaperAndTheProgram(t *testing.T) {
	var paper, program []Series
	for _, metric := range []string{"m2", "m4", "mia", "retain"} {
		paper = append(paper, fourMethods(0.05, metric)...)
	}
	for _, f := range []float64{0.01, 0.05, 0.1} {
		for _, metric := range []string{"m2", "m4", "mia"} {
			program = append(program, fourMethods(f, metric)...)
		}
	}
	for want, series := range map[int][]Series{24: paper, 54: program} {
		got, err := Pairwise(series, OnRuns)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != want {
			t.Errorf("%d tests, want %d", len(got), want)
		}
	}
}

// Of a seed that one method lacks nothing counts, by hand: method a has 1 and 9 on set 0, b has 2 on its first seed alone, so
// that the difference there is 1 - 2 and not 5 - 2.
func TestDataSetsArePairedOnSeedsThatBothMethodsHave(t *testing.T) {
	a, b := Series{0.05, "m2", "a", nil}, Series{0.05, "m2", "b", nil}
	for d := range 6 {
		set := fmt.Sprintf("set %d", d)
		a.Obs = append(a.Obs, Observation{set, 0, 1 + float64(d)}, Observation{set, 1, 9})
		b.Obs = append(b.Obs, Observation{set, 0, 2 + 3*float64(d)})
		if d > 0 {
			b.Obs = append(b.Obs, Observation{set, 1, 9})
		}
	}
	a.Obs = append(a.Obs, Observation{"only a", 0, 100})
	b.Obs = append(b.Obs, Observation{"only b", 0, 100})
	got, err := Pairwise([]Series{a, b}, OnDataSets)
	if err != nil {
		t.Fatal(err)
	}
	// On sets 1 to 5 the second seed has equal values: half of the first's difference, -1 - 2d.
	want := (-1.0 - 3.0/2 - 5.0/2 - 7.0/2 - 9.0/2 - 11.0/2) / 6
	if c := got[0]; c.Pairs != 6 || math.Abs(c.Difference-want) > 1e-15 {
		t.Errorf("%d pairs, difference %v, want 6 and %v", c.Pairs, c.Difference, want)
	}
}

func TestMethodsThatNeverDifferHaveNoTest(t *testing.T) {
	a, b := fourMethods(0.05, "m2")[0], fourMethods(0.05, "m2")[0]
	b.Method = "the same"
	got, err := Pairwise([]Series{a, b}, OnRuns)
	if err != nil {
		t.Fatal(err)
	}
	if got[0].Test != nil || got[0].Adjusted != nil || got[0].Difference != 0 || got[0].Pairs != 40 {
		t.Errorf("comparison of equals: %+v", got[0])
	}
}

func TestStatisticsRefuseBadObservationsByName(t *testing.T) {
	good := observations(1)
	nan := slices.Clone(good)
	nan[5].Value = math.NaN()
	twice := append(slices.Clone(good), good[7])
	cases := []struct {
		obs  []Observation
		null float64
		want string
	}{
		{nil, 0, "no observations"},
		{nan, 0, "data set set 01, seed 1: value NaN"},
		{twice, 0, "data set set 01 has seed 3 twice"},
		{good, math.Inf(1), "null value +Inf"},
	}
	for _, c := range cases {
		if _, err := Summarize(c.obs, c.null); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want one with %q", err, c.want)
		}
	}
	s := fourMethods(0.05, "m2")
	for want, bad := range map[string][]Series{
		"no series":                    nil,
		"given twice":                  {s[0], s[0]},
		"m4 of x at 0.1":               {{0.1, "m4", "x", nan}},
		"set 01 has seed 3 twice":      {{0.1, "m4", "x", twice}},
		"ruler: there are no observat": {{0.1, "m4", "x", nil}},
	} {
		if _, err := Pairwise(bad, OnRuns); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := Pairwise(s, 9); err == nil {
		t.Error("an unknown pairing was accepted")
	}
}

// M4 is read against 0.5 as M2 is against 0: values and null moved together have
// the same tests, and the mean moves with them.
func TestAShiftedNullMovesNothingButTheMean(t *testing.T) {
	var at0, atHalf []Observation
	for d, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		for seed := range 3 {
			v := 0.25*float64(d%3) - 0.125*float64(d) + 0.0625*float64(seed) // exact in binary, on both sides of 0
			at0 = append(at0, Observation{name, seed, v})
			atHalf = append(atHalf, Observation{name, seed, v + 0.5})
		}
	}
	a, errA := Summarize(at0, 0)
	b, errB := Summarize(atHalf, 0.5)
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	if a.Wilcoxon == nil || *a.Wilcoxon != *b.Wilcoxon || a.Effect != b.Effect {
		t.Errorf("signed ranks %+v and %+v", a.Wilcoxon, b.Wilcoxon)
	}
	checkClose(t, "mixed model's p", b.Mixed.PT, a.Mixed.PT, 1e-9)
	checkClose(t, "mean", b.Mean.Value, a.Mean.Value+0.5, 1e-12)
	checkClose(t, "null", *b.Mean.Null, 0.5, 0)
	if a.Wilcoxon.P > 0.9 {
		t.Errorf("p = %v: the values tell nothing", a.Wilcoxon.P)
	}
}
