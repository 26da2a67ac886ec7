package language_test

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/datasets/datatest"
	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

func publishedLog(t *testing.T, name string) *logs.TOFU {
	t.Helper()
	l, err := logs.ReadTOFU(filepath.Join(datatest.Dir(t), "tofu_logs", name+".json.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func negated(x []float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] = -out[i]
	}
	return out
}

func answersOf(s logs.TOFUSet) language.Answers {
	a := language.Answers{Right: negated(s.Paraphrase)}
	for _, w := range s.Wrong {
		a.Wrong = append(a.Wrong, negated(w))
	}
	return a
}

func questionSet(s logs.TOFUSet) language.QuestionSet {
	return language.QuestionSet{True: negated(s.True), Answers: answersOf(s), ROUGE: s.ROUGEL}
}

func ratios(t *testing.T, l *logs.TOFU) (language.Ratios, []float64) {
	t.Helper()
	r, err := language.TruthRatio{}.Ratios(answersOf(l.Forget))
	if err != nil {
		t.Fatal(err)
	}
	log, err := r.Log()
	if err != nil {
		t.Fatal(err)
	}
	return r, log
}

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tol)
	}
}

// NumPy 2.4.6 and SciPy 1.17.1, on the same logs, with the formulas of locuslab/tofu bdc209ea. Between
// the forms utility differs by 0.036 to 0.039 for Llama-2 and 0.019 for Phi; between full and
// retrained by at most 0.009 and 0.011.
func TestUtilityOfPublishedModels(t *testing.T) {
	for name, want := range map[string][2]float64{
		"llama2-7b_full_wd0": {0.6268, 0.5907}, "llama2-7b_full_wd0.01": {0.6227, 0.5859},
		"llama2-7b_retain90_wd0": {0.6203, 0.5834}, "llama2-7b_retain90_wd0.01": {0.6137, 0.5752},
		"phi_full_wd0": {0.5216, 0.5025}, "phi_full_wd0.01": {0.5221, 0.5034},
		"phi_retain90_wd0": {0.5321, 0.5129}, "phi_retain90_wd0.01": {0.5320, 0.5130},
	} {
		l := publishedLog(t, name)
		e := language.UtilityEvidence{Retain: questionSet(l.Retain), Authors: questionSet(l.Authors), Facts: questionSet(l.Facts)}
		for k, form := range []language.TruthForm{language.Geometric, language.Arithmetic} {
			u, err := language.Utility{Form: form}.Measure(e)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" "+form.String(), u.Value, want[k], 5.1e-5)
		}
	}
}

// Every answer's recall again, from its text.
func TestROUGEOfPublishedAnswers(t *testing.T) {
	same, all := 0, 0
	for _, name := range []string{"phi_retain90_wd0", "llama2-7b_full_wd0"} {
		l := publishedLog(t, name)
		for _, s := range []logs.TOFUSet{l.Forget, l.Retain, l.Authors, l.Facts} {
			for q, text := range s.Texts {
				all++
				if got := (language.ROUGE{}).Recall(language.TrueText(text.True), language.GeneratedText(text.Generated)); math.Abs(got-s.ROUGEL[q]) < 1e-9 {
					same++
				}
			}
		}
	}
	t.Logf("%d of %d recalls are the published ones", same, all)
	if same != all || all < 1600 {
		t.Errorf("%d of %d recalls are the published ones", same, all)
	}
}

// published says what the tests make of a pair of models.
type published struct{ ks, paired, mean, design float64 }

func compare(t *testing.T, unlearned, retrained []float64) published {
	t.Helper()
	authors, err := logs.Authors(len(unlearned), 20)
	if err != nil {
		t.Fatal(err)
	}
	e := language.PairedEvidence{Unlearned: unlearned, Retrained: retrained, Group: authors}
	ks, err := language.PublishedDetector(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := language.PairedQuality{}.Test(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return published{ks, r.Test.P, r.Difference.Value, r.Difference.Clustered.DesignEffect}
}

// The same by SciPy's ks_2samp and by all 2^15 signs in NumPy: two retrainings, which differ in weight
// decay, pass the published test with p of nearly 1. The paired test tells those of Phi apart, so
// that its rejection alone is no evidence of memory.
func TestTwoPublishedRetrainings(t *testing.T) {
	for model, want := range map[string]published{
		"phi":       {0.9999999905275543, 0.0263671875, -0.0019288725455601963, 0.772},
		"llama2-7b": {0.9993001912185819, 0.1224365234375, -0.0041006881793340015, 0.750},
	} {
		_, a := ratios(t, publishedLog(t, model+"_retain90_wd0"))
		_, b := ratios(t, publishedLog(t, model+"_retain90_wd0.01"))
		got := compare(t, a, b)
		near(t, model+" KS", got.ks, want.ks, 1e-9)
		near(t, model+" paired", got.paired, want.paired, 0)
		near(t, model+" mean", got.mean, want.mean, 1e-12)
		near(t, model+" design effect", got.design, want.design, 5.1e-4)
		r, err := stats.Pearson(a, b)
		if err != nil || r < 0.99 {
			t.Errorf("%s: the correlation of two retrainings is %v, %v", model, r, err)
		}
		_, full := ratios(t, publishedLog(t, model+"_full_wd0"))
		if got := compare(t, full, a); got.ks > 1e-15 || got.paired > 1e-4 || got.mean > -0.1 {
			t.Errorf("%s: the full model against a retrained one: %+v", model, got)
		}
		near(t, model+" exchanged", compare(t, b, a).mean, -want.mean, 1e-12)
	}
}

// A fifth of the full model's ln R (weight decay 0) in one retraining's, against the other's. The
// numbers are p of the published test by SciPy: mixed into the retraining with weight decay 0, and
// into that with 0.01.
func TestAFifthOfMemoryInPublishedNumbers(t *testing.T) {
	for model, want := range map[string][2]float64{"phi": {0.1212, 0.1761}, "llama2-7b": {0.0265, 0.0812}} {
		_, a := ratios(t, publishedLog(t, model+"_retain90_wd0"))
		_, b := ratios(t, publishedLog(t, model+"_retain90_wd0.01"))
		_, full := ratios(t, publishedLog(t, model+"_full_wd0"))
		for k, pair := range [][2][]float64{{a, b}, {b, a}} {
			got := compare(t, blend(pair[0], full, 0.2), pair[1])
			near(t, model+" KS", got.ks, want[k], 5.1e-5)
			if got.paired > 1e-4 {
				t.Errorf("%s: the paired test has p = %v", model, got.paired)
			}
		}
	}
}

func blend(x, y []float64, share float64) []float64 {
	out := slices.Clone(x)
	for i := range out {
		out[i] += share * (y[i] - x[i])
	}
	return out
}

// Twenty questions per author: the design effect of the mean of ln R.
func TestDesignEffectOfPublishedRatios(t *testing.T) {
	for name, want := range map[string]float64{
		"phi_full_wd0": 1.451, "phi_full_wd0.01": 1.434, "phi_retain90_wd0": 1.767, "phi_retain90_wd0.01": 1.765,
		"llama2-7b_full_wd0": 1.365, "llama2-7b_full_wd0.01": 1.401, "llama2-7b_retain90_wd0": 1.940, "llama2-7b_retain90_wd0.01": 1.910,
	} {
		_, log := ratios(t, publishedLog(t, name))
		authors, err := logs.Authors(len(log), 20)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, stats.ClusterInterval(log, authors, 0.95, "authors").Clustered.DesignEffect, want, 5.1e-4)
	}
}

// Kendall's tau with UDS over the 150 unlearned models, as SciPy 1.17.1's kendalltau has it.
func TestRanksOfThePublishedStudy(t *testing.T) {
	s, err := logs.ReadDepthStudy(filepath.Join(datatest.Dir(t), "tofu_logs", "uds_method_results.json.gz"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		of   func(logs.DepthModel) float64
		want float64
	}{
		"1-ES":          {func(m logs.DepthModel) float64 { return m.OneMinusES }, 0.8301},
		"1-EM":          {func(m logs.DepthModel) float64 { return m.OneMinusEM }, 0.8212},
		"1-truth ratio": {func(m logs.DepthModel) float64 { return m.OneMinusTruth }, 0.7630},
		"Min-K++":       {func(m logs.DepthModel) float64 { return m.SMinKPP }, 0.4211},
		"utility":       {func(m logs.DepthModel) float64 { return m.Utility }, -0.3894},
	} {
		near(t, what, kendall(s.Models, c.of), c.want, 5.1e-5)
	}
	for _, m := range s.Models { // how the study makes its utility
		h, err := language.HarmonicMean(m.ModelUtility, m.Fluency)
		if err != nil {
			t.Fatal(err)
		}
		near(t, m.Name, h, m.Utility, 1e-9)
	}
}

// kendall returns tau-b of UDS and another number, of the unlearned models.
func kendall(models []logs.DepthModel, of func(logs.DepthModel) float64) float64 {
	sum, x, y := 0.0, 0.0, 0.0
	sign := func(a, b float64) float64 {
		switch {
		case a > b:
			return 1
		case a < b:
			return -1
		}
		return 0
	}
	for i, a := range models {
		for _, b := range models[:i] {
			if a.Reference || b.Reference {
				continue
			}
			u, v := sign(a.UDS, b.UDS), sign(of(a), of(b))
			sum, x, y = sum+u*v, x+u*u, y+v*v
		}
	}
	return sum / math.Sqrt(x*y)
}
