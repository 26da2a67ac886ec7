package language

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/lib/stats"
)

// ratiosOf are ratios with the given logarithms.
func ratiosOf(t *testing.T, logs []float64) Ratios {
	t.Helper()
	a := Answers{}
	for _, l := range logs {
		a.Right, a.Wrong = append(a.Right, min(-5-l, -5)), append(a.Wrong, []float64{min(-5, -5+l)})
	}
	return must(TruthRatio{}.Ratios(a))(t)
}

// SciPy 1.17.1's ks_2samp of R, as tofu bdc209ea's get_forget_quality; open-unlearning's test of
// 1/(R + 1e-10) has the same value.
func TestForgetQualityIsThePrograms(t *testing.T) {
	u := wave(60, func(i float64) float64 { return math.Sin(1.7*i) + 0.2 })
	r := wave(60, func(i float64) float64 { return math.Sin(1.3*i + 0.3) })
	e := RatioEvidence{Unlearned: ratiosOf(t, u), Retrained: ratiosOf(t, r)}
	nearAll(t, "logarithms", must(e.Unlearned.Log())(t), u, 1e-12)
	v := must(ForgetQuality{}.Value(e))(t)
	checkClose(t, "p", v.P, 0.18205691052851009, 1e-12)
	checkClose(t, "distance", v.Distance, 0.2, 1e-15)
	e.Retrained.Form = Arithmetic
	refuses(t, failure(ForgetQuality{}.Value(e)), "geometric (coded: false), the retrained one's arithmetic")
	e.Retrained = ratiosOf(t, r[1:])
	refuses(t, failure(ForgetQuality{}.Value(e)), "60 questions of the unlearned model, 59")
}

// questions is one draw of TOFU's situation: authors share an effect, all models share the questions'
// difficulty, and each has noise of its own.
type questions struct {
	shared []float64
	group  []int
}

func drawQuestions(rng *rand.Rand, authors, each int) questions {
	var q questions
	for a := range authors {
		effect := 0.5 * rng.NormFloat64()
		for range each {
			q.shared, q.group = append(q.shared, effect+rng.NormFloat64()), append(q.group, a)
		}
	}
	return q
}

// model draws ln R of a model whose deviations authors share in part, moved by shift.
func (q questions) model(rng *rand.Rand, shift float64) []float64 {
	out, author := make([]float64, len(q.shared)), map[int]float64{}
	for i, v := range q.shared {
		if _, ok := author[q.group[i]]; !ok {
			author[q.group[i]] = 0.15 * rng.NormFloat64()
		}
		out[i] = v + author[q.group[i]] + 0.2*rng.NormFloat64() + shift
	}
	return out
}

// Pairs of models of one distribution: p of the paired test is uniform; that of the published test
// is nearly always 1.
func TestPairedQualityIsCalibratedAndThePublishedTestIsNot(t *testing.T) {
	for _, authors := range []int{12, 25} {
		rng := newRNG(uint64(20 + authors))
		var paired []float64
		covered, published := 0, 0
		const runs = 300
		for range runs {
			q := drawQuestions(rng, authors, 10)
			e := PairedEvidence{Unlearned: q.model(rng, 0), Retrained: q.model(rng, 0), Group: q.group}
			r := must(PairedQuality{Draws: 499}.Test(e, rng))(t)
			paired = append(paired, r.Test.P)
			if m := r.Difference; m.Low <= 0 && m.High >= 0 {
				covered++
			}
			if p := must(PublishedDetector(e, nil))(t); p < 0.5 {
				published++
			}
		}
		if _, p, err := stats.KSUniform(paired); err != nil || p < 0.001 {
			t.Errorf("%d authors: P is not uniform: %v, %v", authors, p, err)
		}
		if covered < runs*92/100 || covered > runs*98/100 {
			t.Errorf("%d authors: %d of %d intervals cover", authors, covered, runs)
		}
		if published > runs/10 {
			t.Errorf("%d authors: the published test is below 0.5 in %d of %d pairs: this data does not show its defect", authors, published, runs)
		}
	}
}

func TestPairedQualityFindsAPlantedMemoryOnItsSide(t *testing.T) {
	rng := newRNG(30)
	q := drawQuestions(rng, 15, 20)
	e := PairedEvidence{Unlearned: q.model(rng, -0.3), Retrained: q.model(rng, 0), Group: q.group}
	r := must(PairedQuality{}.Test(e, nil))(t)
	if r.Test.P > 0.001 || !(r.Difference.High < 0) || !r.Difference.ExcludesNull() || r.Difference.N != 15 || r.Difference.Over != "groups" {
		t.Errorf("planted: %+v", r)
	}
	x := must(PairedQuality{}.Test(PairedEvidence{Unlearned: e.Retrained, Retrained: e.Unlearned, Group: q.group}, nil))(t)
	checkClose(t, "exchanged models", x.Difference.Value, -r.Difference.Value, 1e-15)
	checkClose(t, "exchanged models, low end", x.Difference.Low, -r.Difference.High, 1e-15)
	alone := must(PairedQuality{Level: 0.9}.Test(PairedEvidence{Unlearned: e.Unlearned, Retrained: e.Retrained}, rng))(t)
	if alone.Difference.Over != "questions" || alone.Test.Clusters != 300 || alone.Difference.Level != 0.9 {
		t.Errorf("without groups: %+v", alone)
	}
}

func TestPairedQualityIgnoresTheOrderOfQuestions(t *testing.T) {
	rng := newRNG(31)
	q := drawQuestions(rng, 10, 7)
	e := PairedEvidence{Unlearned: q.model(rng, 0.1), Retrained: q.model(rng, 0), Group: q.group}
	var x PairedEvidence
	for _, k := range rng.Perm(70) {
		x.Unlearned, x.Retrained, x.Group = append(x.Unlearned, e.Unlearned[k]), append(x.Retrained, e.Retrained[k]), append(x.Group, 100-e.Group[k])
	}
	a, b := must(PairedQuality{}.Test(e, nil))(t), must(PairedQuality{}.Test(x, nil))(t)
	nearAll(t, "reordered", []float64{b.Difference.Low, b.Difference.Clustered.DesignEffect, b.Test.P}, []float64{a.Difference.Low, a.Difference.Clustered.DesignEffect, a.Test.P}, 1e-12)
}

func TestPairedQualityNamesBadInput(t *testing.T) {
	three := []float64{1, 2, 3}
	for want, e := range map[string]PairedEvidence{
		"the unlearned model's values are missing":        {Retrained: three},
		"3 questions of the unlearned model, 0 of":        {Unlearned: three},
		"1 groups for 3 questions":                        {Unlearned: three, Retrained: three, Group: []int{1}},
		"question 1: the unlearned model's value is NaN":  {Unlearned: []float64{1, math.NaN(), 2}, Retrained: three},
		"question 2: the retrained model's value is -Inf": {Unlearned: three, Retrained: []float64{1, 2, math.Inf(-1)}},
		"3 questions in 1 groups":                         {Unlearned: three, Retrained: three, Group: []int{7, 7, 7}},
	} {
		refuses(t, failure(PairedQuality{}.Test(e, nil)), "paired forget quality", want)
	}
	many := make([]float64, 21)
	refuses(t, failure(PairedQuality{}.Test(PairedEvidence{Unlearned: many, Retrained: many}, nil)), "rng is nil")
}

// If the unlearned model is one more retrained model, P is at most a/(m+1) with that probability,
// for every contrast.
func TestCalibrationHasItsNull(t *testing.T) {
	rng, counts := newRNG(40), map[string]int{}
	const runs, models = 400, 4
	for range runs {
		q := drawQuestions(rng, 6, 5)
		var e CalibrationEvidence
		for range models {
			e.Retrained = append(e.Retrained, q.model(rng, 0.1*rng.NormFloat64()))
		}
		e.Unlearned = q.model(rng, 0.1*rng.NormFloat64())
		for _, by := range []Contrast{MeanContrast, SquareContrast, KSContrast} {
			c := must(Calibrate(e, by))(t)
			if c.P <= 1.0/(models+1)+1e-9 {
				counts[by.Name]++
			}
			if by.Name == MeanContrast.Name && c.Shift.Low <= 0 && c.Shift.High >= 0 {
				counts["shift"]++
			}
		}
	}
	for _, by := range []Contrast{MeanContrast, SquareContrast, KSContrast} { // ties make it smaller for KS
		if n := counts[by.Name]; n > runs/5+30 || n < runs/5-30 && by.Name != KSContrast.Name {
			t.Errorf("%s: the furthest is the unlearned model in %d of %d cases, want a fifth", by.Name, n, runs)
		}
	}
	if n := counts["shift"]; n < runs*92/100 || n > runs*98/100 {
		t.Errorf("%d of %d intervals of the shift hold 0", n, runs)
	}
}

// By hand, with constant values: three retrained models at 0, 1 and 3, the unlearned one at 5.
func TestCalibrationByHand(t *testing.T) {
	of := func(v float64) []float64 { return []float64{v, v} }
	e := CalibrationEvidence{Unlearned: of(5), Retrained: [][]float64{of(0), of(1), of(3)}}
	for _, by := range []Contrast{MeanContrast, SquareContrast} {
		c := must(Calibrate(e, by))(t)
		nearAll(t, "between", c.Between, []float64{1, 3, 2}, 1e-15)
		nearAll(t, "unlearned", c.Unlearned, []float64{5, 4, 2}, 1e-15)
		checkClose(t, "P", c.P, 0.25, 0) // totals: 9, 7, 7 and 11
		checkClose(t, "least", c.Smallest, 0.25, 0)
		checkClose(t, "shift", c.Shift.Value, 5-4.0/3, 1e-15)
		// Student's 0.975 quantile with two degrees of freedom is 4.302652729911275.
		checkClose(t, "half", c.Shift.High-c.Shift.Value, 4.302652729911275*math.Sqrt(7.0/3)*math.Sqrt(4.0/3), 1e-10)
	}
	middle := CalibrationEvidence{Unlearned: of(1), Retrained: [][]float64{of(0), of(5), of(3)}}
	checkClose(t, "P in the middle", must(Calibrate(middle, MeanContrast))(t).P, 1, 0)
	for want, bad := range map[string]CalibrationEvidence{
		"1 retrained models: it takes two":                   {Unlearned: of(1), Retrained: [][]float64{of(1)}},
		"the unlearned model's values are missing":           {Retrained: [][]float64{of(1), of(2)}},
		"retrained model 1 has 1 questions, the unlearned":   {Unlearned: of(1), Retrained: [][]float64{of(1), {1}}},
		"question 0: the unlearned model's value is NaN":     {Unlearned: of(math.NaN()), Retrained: [][]float64{of(1), of(2)}},
		"question 0: the value of retrained model 1 is +Inf": {Unlearned: of(1), Retrained: [][]float64{of(1), of(math.Inf(1))}},
	} {
		refuses(t, failure(Calibrate(bad, MeanContrast)), want)
	}
	refuses(t, failure(Calibrate(e, Contrast{})), "the contrast is missing")
}

// Changes that cancel are seen by the squares alone.
func TestContrastsSeeWhatTheySay(t *testing.T) {
	a, b := []float64{1, 2, 3, 4}, []float64{2, 1, 4, 3}
	nearAll(t, "contrasts", []float64{MeanContrast.Of(a, b), SquareContrast.Of(a, b), KSContrast.Of(a, b)}, []float64{0, 1, 0}, 1e-15)
}

func TestPowerGrowsWithTheShareAndFindsLessThanThePublishedTestNeeds(t *testing.T) {
	rng := newRNG(50)
	q := drawQuestions(rng, 15, 20)
	e := PowerEvidence{Other: q.model(rng, 0), Retrained: q.model(rng, 0), Original: q.model(rng, -3), Group: q.group}
	p := Power{Shares: []float64{0, 0.02, 0.05, 0.1, 0.2, 0.4}, Draws: 60}
	paired, published := must(p.Curve(e, PairedDetector, rng))(t), must(p.Curve(e, PublishedDetector, rng))(t)
	for k := 2; k < len(paired.Points); k++ {
		if paired.Points[k].Power.Value < paired.Points[k-1].Power.Value {
			t.Errorf("power falls: %+v", paired.Points)
		}
	}
	if !paired.Found || !published.Found || !(paired.Smallest < published.Smallest) {
		t.Errorf("paired %+v, published %+v", paired, published)
	}
	if last := paired.Points[5].Power; last.Value != 1 || last.N != 60 || last.Over != "draws" {
		t.Errorf("%+v", last)
	}
	nothing := PowerEvidence{Other: e.Other, Retrained: e.Retrained, Original: e.Other, Group: q.group}
	c := must(p.Curve(nothing, PublishedDetector, rng))(t)
	if c.Found || c.Smallest != 0 || c.Points[5].Power.Value != c.Points[0].Power.Value {
		t.Errorf("the original is the retrained model: %+v", c)
	}
}

// fixed is a test whose p-values are given, draw by draw and share by share.
func fixed(p []float64) Detector {
	k := -1
	return func(PairedEvidence, *rand.Rand) (float64, error) {
		k++
		return p[k], nil
	}
}

// By hand, ten draws at shares 0 and 0.5 and alpha 0.2: two false alarms are allowed.
func TestPowerIsAdjustedForSizeByHand(t *testing.T) {
	e := PowerEvidence{Original: []float64{1, 2}, Other: []float64{1, 2}, Retrained: []float64{2, 1}}
	p := Power{Alpha: 0.2, Target: 0.5, Draws: 10, Shares: []float64{0.5}}
	interleaved := func(none, half []float64) (out []float64) {
		for k := range none {
			out = append(out, none[k], half[k])
		}
		return out
	}
	half := []float64{0.01, 0.02, 0.03, 0.05, 0.09, 0.1, 0.15, 0.2, 0.21, 0.9}
	for _, c := range []struct {
		name                           string
		none                           []float64
		alarms, threshold, zero, power float64
	}{
		{"two false alarms", []float64{0.2, 0.1, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}, 0.2, 0.2, 0.2, 0.8},
		{"five", []float64{0.9, 0.05, 0.19, 0.1, 0.2, 0.03, 0.3, 0.4, 0.5, 0.6}, 0.5, 0.1, 0.2, 0.5},
		{"three alike", []float64{0.05, 0.05, 0.05, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9}, 0.3, 0.05, 0, 0.3},
	} {
		got := must(p.Curve(e, fixed(interleaved(c.none, half)), newRNG(53)))(t)
		nearAll(t, c.name, []float64{got.FalseAlarms.Value, got.Threshold, got.Points[0].Power.Value, got.Points[1].Power.Value}, []float64{c.alarms, c.threshold, c.zero, c.power}, 0)
		if got.Found != (c.power >= 0.5) || len(got.Points) != 2 || got.Points[0].Share != 0 {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Pairs of retrained models of one distribution. A draw of groups adds the variance of the difference
// once more, so that P(|N(0, 2)| > 1.96) = 0.166 of draws are false alarms on average. What counts
// as power is at most alpha without memory, for every pair.
func TestPowerWithoutMemoryIsAtMostAlpha(t *testing.T) {
	rng, alarms := newRNG(54), 0.0
	const pairs = 60
	for range pairs {
		q := drawQuestions(rng, 15, 5)
		e := PowerEvidence{Other: q.model(rng, 0), Retrained: q.model(rng, 0), Original: q.model(rng, -3), Group: q.group}
		c := must(Power{Draws: 40, Shares: []float64{0, 0.5}}.Curve(e, PairedDetector, rng))(t)
		alarms += c.FalseAlarms.Value / pairs
		if c.Points[0].Power.Value > 0.05 || !c.Found {
			t.Errorf("%+v", c)
		}
	}
	if alarms < 0.10 || alarms > 0.24 {
		t.Errorf("%.3f of draws are false alarms, want about 0.166", alarms)
	}
}

func TestPowerMixesWhatItSays(t *testing.T) {
	e := PowerEvidence{Original: []float64{10, 20}, Other: []float64{0, 1}, Retrained: []float64{5, 6}, Group: []int{3, 4}}
	m := e.mixed(0.25)
	nearAll(t, "mixed", m.Unlearned, []float64{2.5, 5.75}, 1e-15)
	nearAll(t, "reference", m.Retrained, e.Retrained, 0)
	// A group that is drawn twice counts as two, whole.
	big := PowerEvidence{Original: []float64{1, 2, 3}, Other: []float64{1, 2, 3}, Retrained: []float64{1, 2, 3}, Group: []int{8, 9, 8}}
	for range 20 {
		d := big.draw(membersOf(big.Group, 3), newRNG(51))
		seen := map[int]int{}
		for k, g := range d.Group {
			seen[g]++
			if d.Original[k] != d.Retrained[k] || d.Original[k] != d.Other[k] {
				t.Fatalf("a draw mixes questions: %+v", d)
			}
		}
		if len(seen) != 2 {
			t.Errorf("%+v", d)
		}
	}
}

func TestPowerNamesBadInput(t *testing.T) {
	good, rng := PowerEvidence{Original: []float64{1, 2}, Other: []float64{1, 2}, Retrained: []float64{2, 1}}, newRNG(52)
	for want, err := range map[string]error{
		"the test is missing":                    failure(Power{}.Curve(good, nil, rng)),
		"returns NaN, which is no p-value":       failure(Power{}.Curve(good, func(PairedEvidence, *rand.Rand) (float64, error) { return math.NaN(), nil }, rng)),
		"share 1 is 0.1: shares ascend":          failure(Power{Shares: []float64{0.2, 0.1}}.Curve(good, PairedDetector, rng)),
		"share 0 is 2":                           failure(Power{Shares: []float64{2}}.Curve(good, PairedDetector, rng)),
		"with a generator":                       failure(Power{}.Curve(good, PairedDetector, nil)),
		"alpha 1.5":                              failure(Power{Alpha: 1.5}.Curve(good, PairedDetector, rng)),
		"other retrained (unlearned) against":    failure(Power{}.Curve(PowerEvidence{Original: good.Original, Retrained: good.Retrained}, PairedDetector, rng)),
		"original (unlearned) against retrained": failure(Power{}.Curve(PowerEvidence{Other: good.Original, Retrained: good.Retrained}, PairedDetector, rng)),
	} {
		refuses(t, err, want)
	}
	if p := (Power{}).withDefaults(); len(p.Shares) != 19 || p.Shares[0] != 0 || p.Shares[10] != 0.1 || p.Shares[18] != 0.5 {
		t.Errorf("%v", p.Shares)
	}
}
