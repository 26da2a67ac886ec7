package language_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lethe-ml/lethe/datasets/logs"
	"github.com/lethe-ml/lethe/lib/verify/language"
)

// Models are compared on the same questions; those of another split are about other people.
func TestPublishedPairsAnswerTheSameQuestions(t *testing.T) {
	one := publishedLog(t, "phi_full_wd0")
	for _, name := range []string{"phi_retain90_wd0", "phi_retain90_wd0.01", "llama2-7b_full_wd0", "llama2-7b_retain90_wd0", "llama2-7b_retain90_wd0.01"} {
		l := publishedLog(t, name)
		for what, pair := range map[string][2]logs.TOFUSet{
			"forget": {one.Forget, l.Forget}, "retain": {one.Retain, l.Retain}, "authors": {one.Authors, l.Authors}, "facts": {one.Facts, l.Facts},
		} {
			if err := logs.SameQuestions(pair[0], pair[1]); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	other := publishedLog(t, "llama2-7b_retain95_wd0").Forget
	first := one.Forget
	first.True, first.Texts = first.True[:other.Questions()], first.Texts[:other.Questions()]
	if err := logs.SameQuestions(first, other); err == nil {
		t.Error("the first forgotten people of retain90 pass as those of retain95")
	}
}

// The smallest share of the full model's ln R that the tests find in 80 % of draws of authors. At its
// level of 5 % the paired test rejects in a third to two thirds of draws without any memory, since
// these retrainings differ; adjusted for that it still finds a few per cent, and the published test
// needs a fifth or more. Its own false alarms are none.
func TestPowerOnPublishedRatios(t *testing.T) {
	if testing.Short() {
		t.Skip("draws authors some thousand times; not with -short")
	}
	for _, model := range []string{"phi", "llama2-7b"} {
		_, a := ratios(t, publishedLog(t, model+"_retain90_wd0"))
		_, b := ratios(t, publishedLog(t, model+"_retain90_wd0.01"))
		_, full := ratios(t, publishedLog(t, model+"_full_wd0"))
		authors, err := logs.Authors(len(a), 20)
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range map[string]language.PowerEvidence{
			"wd0":    {Original: full, Other: a, Retrained: b, Group: authors},
			"wd0.01": {Original: full, Other: b, Retrained: a, Group: authors},
		} {
			rng := rand.New(rand.NewPCG(43, 1))
			paired, err := language.Power{}.Curve(e, language.PairedDetector, rng)
			if err != nil {
				t.Fatal(err)
			}
			ks, err := language.Power{Draws: 100, Shares: []float64{0.1, 0.15, 0.2, 0.25, 0.3, 0.4}}.Curve(e, language.PublishedDetector, rng)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, mixed into %s: paired finds %v (false alarms %.3f, p below %.2g), the published test %v (%.3f)",
				model, name, paired.Smallest, paired.FalseAlarms.Value, paired.Threshold, ks.Smallest, ks.FalseAlarms.Value)
			if paired.FalseAlarms.Low < 0.15 || paired.Points[0].Power.Value > 0.05 || ks.FalseAlarms.Value > 0 {
				t.Errorf("%s, mixed into %s: false alarms of the paired test %v, adjusted %v; of the published test %v",
					model, name, paired.FalseAlarms, paired.Points[0].Power, ks.FalseAlarms)
			}
			if !paired.Found || paired.Smallest > 0.05 || !ks.Found || ks.Smallest < 0.1 {
				t.Errorf("%s, mixed into %s: paired %v, published %v", model, name, paired.Smallest, ks.Smallest)
			}
		}
	}
}
