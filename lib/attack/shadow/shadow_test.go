package shadow

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/stats"
)

func checkClose(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*max(1, math.Abs(want[i]))) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

func wave(rows, cols int, at, factor float64) array.Matrix[float64] {
	m := array.New[float64](rows, cols)
	for k := range m.Data {
		m.Data[k] = factor * math.Sin(at+float64(1.7*float64(k)))
	}
	return m
}

// six models and five records; every record in three models, but for the last two
// exceptions of uneven.
func six(uneven bool) Evidence {
	e := Evidence{Target: wave(1, 5, 2.2, 2).Data, Shadows: Shadows{Scores: wave(6, 5, 0.4, 2)}}
	for m := range 6 {
		in := make([]bool, 5)
		for i := range in {
			in[i] = (m+i)%2 == 0
		}
		e.Shadows.In = append(e.Shadows.In, in)
	}
	if uneven {
		e.Shadows.In[0][1], e.Shadows.In[5][3] = true, false
	}
	return e
}

// SciPy 1.17.1: the functions of tensorflow/privacy's mi_lira_2021 on six(true).
func TestCodedLiRAIsTheProgram(t *testing.T) {
	for a, want := range map[CodedLiRA][]float64{
		{}:                    {-0.8735278854866988, -0.5053203682325225, -1.4525582737877867, 85.62246360686666, -0.6431293427686141},
		{Offline: true}:       {1.659333702701288, 1.2650469799690582, 0.42409957843839874, 87.19323233148194, 0.8802056404436075},
		{FixedVariance: true}: {-0.9302062667072541, -0.26285725589596365, -0.48432059844526076, 1.3960737256905493, -0.1321142411013958},
		{Offline: true, FixedVariance: true}: {1.227876267655047, 1.2912045167614354, 1.1807572231012404,
			3.6855381242824534, 1.1806418591964782},
	} {
		got, err := a.Scores(six(true))
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, a.Name(), got, want, 1e-9)
	}
}

// SciPy 1.17.1: scipy.stats.norm.logpdf with means and standard deviations (ddof=1).
func TestLiRAIsThePapers(t *testing.T) {
	for a, want := range map[LiRA][]float64{
		{}:              {-0.350865536314763, -0.5719562251408592, -0.2624040337454723, 0.5487747671592595, -0.23058032857858413},
		{Offline: true}: {0.8188578986427459, -0.3535821346905586, -0.6265327251843109, 1.3340291812257614, 0.3546293639304224},
	} {
		got, err := a.Scores(six(true))
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, a.Name(), got, want, 1e-9)
	}
}

func TestPooledLiRAHasOneSpreadPerSide(t *testing.T) {
	e := six(true)
	a, err := LiRA{Pooled: true}.Scores(e)
	if err != nil {
		t.Fatal(err)
	}
	var squares [2]float64
	var freedom [2]int
	mean := func(x []float64) float64 {
		sum := 0.0
		for _, v := range x {
			sum += v
		}
		return sum / float64(len(x))
	}
	for i := range 5 {
		in, out := e.Shadows.scoresFor(i)
		for side, x := range [][]float64{in, out} {
			for _, v := range x {
				squares[side] += (v - mean(x)) * (v - mean(x))
			}
			freedom[side] += len(x) - 1
		}
	}
	want := make([]float64, 5)
	for i, x := range e.Target {
		in, out := e.Shadows.scoresFor(i)
		v0, v1 := squares[0]/float64(freedom[0]), squares[1]/float64(freedom[1])
		want[i] = -(x-mean(in))*(x-mean(in))/2/v0 - math.Log(v0)/2 + (x-mean(out))*(x-mean(out))/2/v1 + math.Log(v1)/2
	}
	checkClose(t, "pooled", a, want, 1e-12)
	// With one spread given, the online score is linear in the target.
	b, err := LiRA{SD: 2}.Scores(e)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range e.Target {
		in, out := e.Shadows.scoresFor(i)
		want[i] = (mean(in) - mean(out)) * (x - (mean(in)+mean(out))/2) / 4
	}
	checkClose(t, "given", b, want, 1e-12)
}

// NumPy 2.4.6 on six(false), even, or six(true): Privacy Meter's run_rmia with the
// population's mean over all models, and the online formula.
func TestRMIAIsPrivacyMeters(t *testing.T) {
	logs := func(m array.Matrix[float64], plus float64) array.Matrix[float64] {
		out := array.New[float64](m.Rows, m.Cols)
		for k, v := range m.Data {
			out.Data[k] = -math.Log1p(math.Exp(-v - plus))
		}
		return out
	}
	population := &Population{Target: logs(wave(1, 4, 0.7, 1), 0.3).Data, Shadows: logs(wave(6, 4, 1.1, 1), 0)}
	for a, want := range map[RMIA][]float64{
		{Offline: true, A: new(0.0)}: {1, 0, 0, 1, 0.75},
		{Offline: true}:              {0.75, 0, 0, 1, 0.75},
		{Offline: true, A: new(1.0)}: {0.75, 0, 0, 0.75, 0.75},
		{}:                           {0.75, 0, 0, 0.75, 0.75},
		{Gamma: 1.2}:                 {0.75, 0, 0, 0.75, 0.5},
	} {
		e := six(!a.Offline)
		e.Target, e.Shadows.Scores, e.Population = logs(asRow(e.Target), 0).Data, logs(e.Shadows.Scores, 0), population
		got, err := a.Scores(e)
		if err != nil {
			t.Fatal(err)
		}
		checkClose(t, a.Name(), got, want, 0)
	}
}

// Every pair of a record and one of the population, in plain probabilities.
func TestRMIAEqualsCountingPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for trial := range 60 {
		e := newModels(rng, 24, 12, 7, 0.5).mustAgainst(t, trial%24)
		for _, a := range []RMIA{{}, {Gamma: 1.5}, {Offline: true}, {Offline: true, A: new(0.7), Gamma: 0.8}} {
			got, err := a.Scores(e)
			if err != nil {
				t.Fatal(err)
			}
			average := func(x []float64) float64 {
				sum := 0.0
				for _, v := range x {
					sum += math.Exp(v) / float64(len(x))
				}
				return sum
			}
			share, gamma := 0.3, a.Gamma
			if a.A != nil {
				share = *a.A
			}
			if gamma == 0 {
				gamma = 1
			}
			for i := range e.Target {
				in, out := e.Shadows.scoresFor(i)
				px := (average(in) + average(out)) / 2
				if a.Offline {
					px = ((1+share)*average(out) + 1 - share) / 2
				}
				wins := 0.0
				for k, z := range e.Population.Target {
					pz := average(column(e, k))
					if a.Offline {
						pz = ((1+share)*pz + 1 - share) / 2
					}
					if math.Exp(e.Target[i])/px > gamma*math.Exp(z)/pz {
						wins++
					}
				}
				if got[i] != wins/7 {
					t.Errorf("%+v, record %d: %v, %v pairs of 7", a, i, got[i], wins)
				}
			}
		}
	}
}

// newModels draws models: records differ in difficulty, and a model fits what it had
// better by memory.
func newModels(rng *rand.Rand, models, records, population int, memory float64) Models {
	f := Models{Scores: array.New[float64](models, records)}
	p := array.New[float64](models, population)
	f.Population = &p
	hard := make([]float64, records+population)
	for i := range hard {
		hard[i] = -3 - 2*rng.Float64()
	}
	for m := range models {
		in := make([]bool, records)
		for k, i := range rng.Perm(records) {
			in[i] = k < records/2
		}
		f.In = append(f.In, in)
		for i := range records {
			v := hard[i] + 0.5*rng.NormFloat64()
			if in[i] {
				v += memory
			}
			f.Scores.Row(m)[i] = min(v, -0.01)
		}
		for k := range population {
			p.Row(m)[k] = min(hard[records+k]+0.5*rng.NormFloat64(), -0.01)
		}
	}
	return f
}

func (f Models) mustAgainst(t *testing.T, m int) Evidence {
	t.Helper()
	e, _, err := f.EvidenceAgainst(m)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestATargetIsNotItsOwnShadow(t *testing.T) {
	f := newModels(rand.New(rand.NewPCG(1, 1)), 5, 8, 3, 1)
	before := slices.Clone(f.Scores.Data)
	for m := range 5 {
		e, member, err := f.EvidenceAgainst(m)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(member, f.In[m]) || e.Shadows.Scores.Rows != 4 || len(e.Shadows.In) != 4 || e.Population.Shadows.Rows != 4 {
			t.Fatalf("model %d: %d shadows", m, e.Shadows.Scores.Rows)
		}
		for k := range 4 {
			other := k
			if k >= m {
				other++
			}
			if !slices.Equal(e.Shadows.Scores.Row(k), f.Scores.Row(other)) || !slices.Equal(e.Shadows.In[k], f.In[other]) ||
				!slices.Equal(e.Population.Shadows.Row(k), f.Population.Row(other)) {
				t.Errorf("model %d: shadow %d is not model %d", m, k, other)
			}
		}
		if !slices.Equal(e.Target, f.Scores.Row(m)) || !slices.Equal(e.Population.Target, f.Population.Row(m)) {
			t.Errorf("model %d is not its own target", m)
		}
	}
	if !slices.Equal(before, f.Scores.Data) {
		t.Error("the scores were written to")
	}
	for _, m := range []int{-1, 5} {
		if _, _, err := f.EvidenceAgainst(m); err == nil {
			t.Errorf("model %d of 5 was accepted", m)
		}
	}
}

// For online LiRA each pair of models counts twice: without the factor the interval
// over models is too narrow.
func TestShadowModelsWithoutMemoryAreAtChance(t *testing.T) {
	const trials, models = 300, 24
	error3 := 3 * math.Sqrt(0.05*0.95/trials)
	for _, a := range []Attack{LiRA{Pooled: true}, LiRA{Offline: true, Pooled: true}, RMIA{}} {
		held, narrow := 0, 0
		for k := range trials {
			s, err := newModels(rand.New(rand.NewPCG(uint64(k), 8)), models, 40, 30, 0).Attack(a)
			if err != nil {
				t.Fatal(err)
			}
			if s.AUC.Low <= 0.5 && 0.5 <= s.AUC.High {
				held++
			}
			if half := (s.AUC.High - s.AUC.Low) / 2 / math.Sqrt(2*23./22); math.Abs(s.AUC.Value-0.5) <= half {
				narrow++
			}
		}
		if c := float64(held) / trials; math.Abs(c-0.95) > error3 {
			t.Errorf("%s: %.3f of the intervals hold 0.5", a.Name(), c)
		}
		if c := float64(narrow) / trials; a.Mutual() && c > 0.95-error3 {
			t.Errorf("%s: without the factor %.3f of the intervals hold 0.5: it is not needed", a.Name(), c)
		}
	}
}

// paired deals the records of shadow models to pairs of models.
func paired(rng *rand.Rand, models, records, population int, memory float64) Models {
	f := newModels(rng, models, records, population, memory)
	f.Pairs = true
	for m := 1; m < models; m += 2 {
		f.In[m] = slices.Clone(f.In[m-1])
		for i := range f.In[m] {
			f.Scores.Row(m)[i] += memory * float64(1-2*btoi(f.In[m-1][i])) // as if it had been assigned the others
			f.In[m][i] = !f.In[m-1][i]
			f.Scores.Row(m)[i] = min(f.Scores.Row(m)[i], -0.01)
		}
	}
	return f
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// In pairs every record is in exactly half of the models and the null is one half
// nevertheless; thresholds, which know nothing of how hard a record is, too.
func TestModelsInPairsAreCalibrated(t *testing.T) {
	const trials, models = 1000, 24
	error3 := 3 * math.Sqrt(0.05*0.95/trials)
	for _, a := range []Attack{LiRA{Pooled: true}, LiRA{Offline: true, Pooled: true}, RMIA{}, nil} {
		held, name := 0, "threshold"
		var areas []float64
		for k := range trials {
			f := paired(rand.New(rand.NewPCG(uint64(k), 10)), models, 40, 30, 0)
			sweep := func() (*Report, error) { return f.Threshold(name) }
			if a != nil {
				name, sweep = a.Name(), func() (*Report, error) { return f.Attack(a) }
			}
			s, err := sweep()
			if err != nil {
				t.Fatal(err)
			}
			areas = append(areas, s.AUC.Value)
			if s.AUC.Low <= 0.5 && 0.5 <= s.AUC.High {
				held++
			}
		}
		if c := float64(held) / trials; math.Abs(c-0.95) > error3 {
			t.Errorf("%s: %.3f of the intervals hold 0.5", name, c)
		}
		if e := stats.MeanInterval(areas, 0.999, "trials"); e.Low > 0.5 || e.High < 0.5 {
			t.Errorf("%s: AUC without memory %v", name, e)
		}
	}
}

func TestTheOtherOfAPairIsNoShadow(t *testing.T) {
	f := paired(rand.New(rand.NewPCG(3, 8)), 6, 10, 4, 1)
	for m := range 6 {
		e, member, err := f.EvidenceAgainst(m)
		if err != nil {
			t.Fatal(err)
		}
		if e.Shadows.Scores.Rows != 4 || len(e.Shadows.In) != 4 || e.Population.Shadows.Rows != 4 {
			t.Fatalf("model %d has %d shadows", m, e.Shadows.Scores.Rows)
		}
		for k := range 4 {
			other := k
			if k/2 >= m/2 {
				other += 2
			}
			if !slices.Equal(e.Shadows.Scores.Row(k), f.Scores.Row(other)) || !slices.Equal(e.Shadows.In[k], f.In[other]) {
				t.Errorf("model %d: shadow %d is not model %d", m, k, other)
			}
		}
		for i := range member {
			if with, without := e.Shadows.scoresFor(i); len(with) != 2 || len(without) != 2 {
				t.Errorf("model %d, record %d: %d shadows with and %d without it", m, i, len(with), len(without))
			}
		}
	}
	f.In[3] = f.In[2]
	if _, err := f.Attack(LiRA{Pooled: true}); err == nil || !strings.Contains(err.Error(), "models 2 and 3, a pair") {
		t.Errorf("%v", err)
	}
	f = paired(rand.New(rand.NewPCG(3, 8)), 4, 10, 4, 1)
	if _, err := f.Attack(LiRA{Pooled: true}); err == nil || !strings.Contains(err.Error(), "3 pairs") {
		t.Errorf("%v", err)
	}
}

// Few shadows are the pairs that follow a model's own, the first after the last; as many as
// there are is all of them.
func TestFewShadowsAreTheNextPairs(t *testing.T) {
	f := paired(rand.New(rand.NewPCG(3, 8)), 12, 10, 4, 1)
	f.NumShadows = 4
	for m := range 12 {
		e, _, err := f.EvidenceAgainst(m)
		if err != nil {
			t.Fatal(err)
		}
		want := []int{(m/2 + 1) % 6, (m/2 + 2) % 6}
		slices.Sort(want)
		for k := range 4 {
			other := 2*want[k/2] + k%2
			if e.Shadows.Scores.Rows != 4 || !slices.Equal(e.Shadows.Scores.Row(k), f.Scores.Row(other)) ||
				!slices.Equal(e.Shadows.In[k], f.In[other]) || !slices.Equal(e.Population.Shadows.Row(k), f.Population.Row(other)) {
				t.Errorf("model %d: shadow %d is not model %d", m, k, other)
			}
		}
		for i := range 10 {
			if with, without := e.Shadows.scoresFor(i); len(with) != 2 || len(without) != 2 {
				t.Errorf("model %d, record %d: %d shadows with and %d without it", m, i, len(with), len(without))
			}
		}
	}
	for few, mutual := range map[int]bool{0: true, 4: false, 6: true, 10: true} {
		if f.NumShadows = few; f.Mutual(LiRA{}) != mutual || f.Mutual(LiRA{Offline: true}) {
			t.Errorf("%d of 10 shadows are mutual: %t", few, f.Mutual(LiRA{}))
		}
	}
	f.NumShadows = 10
	some, err := f.Attack(LiRA{Pooled: true})
	if err != nil {
		t.Fatal(err)
	}
	f.NumShadows = 0
	if all, err := f.Attack(LiRA{Pooled: true}); err != nil || all.AUC.Value != some.AUC.Value || all.AUC.Low != some.AUC.Low {
		t.Errorf("all ten: %v, want %v, %v", some.AUC, all.AUC, err)
	}
	for _, few := range []int{-2, 3, 12} {
		if f.NumShadows = few; f.In != nil {
			if _, err := f.Attack(LiRA{Pooled: true}); err == nil || !strings.Contains(err.Error(), "with 10 others, in pairs") {
				t.Errorf("%d shadows: %v", few, err)
			}
		}
	}
	f = newModels(rand.New(rand.NewPCG(3, 8)), 5, 10, 4, 1)
	f.NumShadows = 3
	if e, _, err := f.EvidenceAgainst(3); err != nil || !slices.Equal(e.Shadows.Scores.Row(0), f.Scores.Row(0)) || !slices.Equal(e.Shadows.Scores.Row(2), f.Scores.Row(4)) {
		t.Errorf("without pairs models 4, 0 and 1 are the shadows of model 3: %v", err)
	}
}

// Few shadows have their null at one half and the right intervals, and find less.
func TestFewShadowsAreCalibrated(t *testing.T) {
	const trials, models = 600, 24
	for _, a := range []Attack{LiRA{Pooled: true}, LiRA{Offline: true, Pooled: true}} {
		held := 0
		var areas, few, all []float64
		for k := range trials {
			f := paired(rand.New(rand.NewPCG(uint64(k), 12)), models, 40, 0, 0)
			f.NumShadows = 8
			s, err := f.Attack(a)
			if err != nil {
				t.Fatal(err)
			}
			areas = append(areas, s.AUC.Value)
			held += btoi(s.AUC.Low <= 0.5 && 0.5 <= s.AUC.High)
			if k >= 40 {
				continue
			}
			f = paired(rand.New(rand.NewPCG(uint64(k), 13)), models, 40, 0, 0.5)
			for n, out := range map[int]*[]float64{4: &few, 0: &all} {
				f.NumShadows = n
				if s, err = f.Attack(a); err != nil {
					t.Fatal(err)
				}
				*out = append(*out, s.AUC.Value)
			}
		}
		if c := float64(held) / trials; math.Abs(c-0.95) > 3*math.Sqrt(0.05*0.95/trials) {
			t.Errorf("%s: %.3f of the intervals hold 0.5", a.Name(), c)
		}
		if e := stats.MeanInterval(areas, 0.999, "trials"); e.Low > 0.5 || e.High < 0.5 {
			t.Errorf("%s: AUC without memory %v", a.Name(), e)
		}
		if some, most := stats.MeanInterval(few, 0.95, "trials"), stats.MeanInterval(all, 0.95, "trials"); some.High > most.Low || some.Low < 0.6 {
			t.Errorf("%s finds %v with 4 shadows, %v with 22", a.Name(), some, most)
		}
	}
}

// What makes a record hard is the same in both models of a pair and cancels.
func TestOverPairsHardRecordsCancel(t *testing.T) {
	f := paired(rand.New(rand.NewPCG(4, 8)), 12, 30, 4, 0)
	for m := range f.Scores.Rows {
		for i := range f.Scores.Row(m) {
			f.Scores.Row(m)[i] = float64(i) // the same in every model
		}
	}
	s, err := f.Threshold("threshold")
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.AUC.Value-0.5) > 1e-12 || s.AUC.High-s.AUC.Low > 1e-12 || s.AUC.N != 6 {
		t.Errorf("AUC %v", s.AUC)
	}
	if s.PooledTPR01 == nil || s.PooledTPR01.Value > 0.05 {
		t.Errorf("of the members %v are above the hundredth non-member", s.PooledTPR01)
	}
}

// With a memory members are found at a rare false positive, and with the masks
// exchanged they are not.
func TestPooledTruePositiveRates(t *testing.T) {
	f := paired(rand.New(rand.NewPCG(5, 8)), 24, 60, 40, 1.5)
	s, err := f.Attack(LiRA{Pooled: true})
	if err != nil || s.PooledTPR01 == nil || s.PooledTPR01.Low < 0.1 {
		t.Fatalf("%+v, %v", s.PooledTPR01, err)
	}
	f.In[0], f.In[1] = f.In[1], f.In[0]
	wrong, err := f.Attack(LiRA{Pooled: true})
	if err != nil || wrong.Models[0].AUC.Value > 0.5 || s.Models[0].AUC.Value < 0.5 {
		t.Errorf("AUC %v with the mask of the other model", wrong.Models[0].AUC)
	}
}

// Carlini et al. put every record into exactly half of the models. One that the target
// had is then in fewer of its shadows than others.
func TestBalancedModelsHaveTheirNullBelowOneHalf(t *testing.T) {
	const trials, models, records = 100, 12, 40
	var areas []float64
	for k := range trials {
		rng := rand.New(rand.NewPCG(uint64(k), 9))
		f := newModels(rng, models, records, 1, 0)
		for i := range records {
			for at, m := range rng.Perm(models) {
				f.In[m][i] = at < models/2
			}
		}
		s, err := f.Attack(LiRA{Pooled: true})
		if err != nil {
			t.Fatal(err)
		}
		areas = append(areas, s.AUC.Value)
	}
	if e := stats.MeanInterval(areas, 0.99, "trials"); e.High > 0.5 || e.Low > 0.486 || e.High < 0.486 {
		t.Errorf("AUC without memory %v, expected 0.486", e)
	}
}

func TestShadowModelsWithAMemoryAreFound(t *testing.T) {
	f := newModels(rand.New(rand.NewPCG(2, 8)), 24, 60, 40, 1)
	for _, a := range All() {
		s, err := f.Attack(a)
		if err != nil {
			t.Fatal(err)
		}
		if !(s.AUC.Low > 0.55) || len(s.Models) != 24 || s.TPR["0.1"].N != 24 {
			t.Errorf("%s: %v, %d models", s.Attack, s.AUC, len(s.Models))
		}
	}
}

func TestScaledConfidencesAreLogitsOfProbabilities(t *testing.T) {
	z := array.Matrix[float32]{Rows: 3, Cols: 3, Data: []float32{1, 2, -1, 0.5, 0, 3, 200, 0, 1}}
	got, err := ScaledConfidences(z, []int{1, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	p := func(a, b, c float64) float64 { return math.Exp(a) / (math.Exp(a) + math.Exp(b) + math.Exp(c)) }
	one, two := p(2, 1, -1), p(0.5, 0, 3)
	checkClose(t, "scaled", got, []float64{math.Log(one / (1 - one)), math.Log(two / (1 - two)), 200 - math.Log(1+math.E)}, 1e-12)
	for words, c := range map[string]struct {
		z array.Matrix[float32]
		y []int
	}{
		"record 1 has label 3":     {z, []int{0, 3, 0}},
		"2 labels":                 {z, []int{0, 1}},
		"row 0, column 1 is +Inf":  {array.Matrix[float32]{Rows: 1, Cols: 2, Data: []float32{0, float32(math.Inf(1))}}, []int{0}},
		"1 labels for 1 x 1 logit": {array.Matrix[float32]{Rows: 1, Cols: 1, Data: []float32{0}}, []int{0}},
	} {
		if _, err := ScaledConfidences(c.z, c.y); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}

func TestTooFewShadowModelsAreRefusedByTheirRecord(t *testing.T) {
	for words, c := range map[string]struct {
		a       Attack
		corrupt func(e *Evidence)
	}{
		"record 2: shadow models with it: 1, and at least 2": {LiRA{}, func(e *Evidence) { e.Shadows.In[0][2], e.Shadows.In[2][2] = false, false }},
		"record 1: shadow models without it: 0": {LiRA{Offline: true, Pooled: true}, func(e *Evidence) {
			for m := range 6 {
				e.Shadows.In[m][1] = true
			}
		}},
		"record 0: the shadow models without it have no spread": {LiRA{Offline: true}, func(e *Evidence) {
			for m := range 6 {
				e.Shadows.Scores.Row(m)[0] = 0.1 // whose mean over six is another float64
			}
		}},
		"no shadow model with it": {CodedLiRA{}, func(e *Evidence) {
			for m := range 6 {
				e.Shadows.In[m][1] = false
			}
		}},
		"standard deviation of -1":   {LiRA{SD: -1}, func(*Evidence) {}},
		"there is no population":     {RMIA{}, func(*Evidence) {}},
		"the share a is 1.5":         {RMIA{Offline: true, A: new(1.5)}, func(*Evidence) {}},
		"gamma is -1":                {RMIA{Gamma: -1}, func(*Evidence) {}},
		"log-likelihood is":          {RMIA{Offline: true}, func(e *Evidence) { e.Population = &Population{[]float64{0}, array.New[float64](6, 1)} }},
		"population are 5 x 1":       {RMIA{}, func(e *Evidence) { e.Population = &Population{[]float64{0}, array.New[float64](5, 1)} }},
		"model 3: membership of 4":   {LiRA{}, func(e *Evidence) { e.Shadows.In[3] = e.Shadows.In[3][:4] }},
		"6 shadow models, training":  {LiRA{}, func(e *Evidence) { e.Shadows.In = e.Shadows.In[:5] }},
		"no target scores":           {LiRA{}, func(e *Evidence) { e.Target = nil }},
		"shadow scores: row 2, colu": {CodedLiRA{}, func(e *Evidence) { e.Shadows.Scores.Row(2)[1] = math.NaN() }},
		"target scores: row 0, colu": {CodedLiRA{}, func(e *Evidence) { e.Target[1] = math.Inf(-1) }},
	} {
		e := six(false)
		c.corrupt(&e)
		if _, err := c.a.Scores(e); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}

func TestAScaledConfidenceNeedsTwoClassesAndALabelOfThem(t *testing.T) {
	for _, c := range []struct {
		z     []float64
		label int
	}{{nil, 0}, {[]float64{1}, 0}, {[]float64{1, 2}, 2}, {[]float64{1, 2}, -1}} {
		if _, err := ScaledConfidence(c.z, c.label); err == nil || !strings.Contains(err.Error(), "shadow: label") {
			t.Errorf("%v, label %d: %v", c.z, c.label, err)
		}
	}
}

// The target among its own shadow models would be likely under its own membership, whatever it is: it is refused, in another
// type too. Another model is not, nor are scores that have a few values.
func TestTheTargetAmongItsShadowsIsRefused(t *testing.T) {
	const n = 20
	e := Evidence{Shadows: Shadows{Scores: array.New[float64](3, n), In: make([][]bool, 3)}}
	for i := range n {
		e.Target = append(e.Target, math.Sin(float64(i)))
	}
	for m := range 3 {
		e.Shadows.In[m] = make([]bool, n)
		for i := range n {
			e.Shadows.Scores.Row(m)[i] = math.Cos(float64(i * (m + 1)))
		}
	}
	check := func(want bool, set func(i int) float64) {
		t.Helper()
		for i := range n {
			e.Shadows.Scores.Row(1)[i] = set(i)
		}
		if err := e.Check(); (err != nil) != want || want && !strings.Contains(err.Error(), "shadow model 1 has the scores of the target") {
			t.Errorf("%v, refused: want %t", err, want)
		}
	}
	check(true, func(i int) float64 { return e.Target[i] })
	check(true, func(i int) float64 { return float64(float32(e.Target[i])) })
	check(false, func(i int) float64 { return e.Target[i] + 1e-3*float64(i%2) })
	for i := range n {
		e.Target[i] = float64(i % 2)
	}
	check(false, func(i int) float64 { return e.Target[i] })
}
