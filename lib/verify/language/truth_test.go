package language

import (
	"math"
	"slices"
	"testing"
)

// waveAnswers are seven questions without a generator; the right answer to the sixth is as good as
// impossible.
func waveAnswers() Answers {
	var a Answers
	for q := range 7 {
		a.Right = append(a.Right, -0.2-1.5*math.Abs(math.Sin(1.1*float64(q))))
		var w []float64
		for k := range 5 {
			w = append(w, -0.3-2.5*math.Abs(math.Cos(float64(q)*0.9+float64(k)*1.7)))
		}
		a.Wrong = append(a.Wrong, w)
	}
	a.Right[5] = -23
	return a
}

// In NumPy 2.4.6: truth_ratio of open-unlearning d3d7cf9e, memorization.py (coded);
// get_model_utility of locuslab/tofu bdc209ea, aggregate_eval_stat.py (geometric) and utils.py
// (arithmetic), with their aggregates.
func TestTruthRatiosAreThePrograms(t *testing.T) {
	for _, c := range []struct {
		name             string
		by               TruthRatio
		want             []float64
		forgotten, known float64
	}{
		{
			"open-unlearning", TruthRatio{Coded: true},
			[]float64{0.17007615696633077, 0.7713523687789595, 0.6372675505398534, 0.2262121569393666, 0.6505547330399043, 1027925100.9546002, 0.2459961191016686},
			0.3859227266198452, 0.47122013066198815,
		},
		{
			"aggregate_eval_stat", TruthRatio{},
			[]float64{0.1700761569871039, 0.7713523691376184, 0.6372675508015927, 0.2262121569743722, 0.6505547333710782, 2029617907.5814116, 0.24599611914961303},
			0.3859227267020118, 0.4712201305112316,
		},
		{
			"utils", TruthRatio{Form: Arithmetic},
			[]float64{0.25305992957572293, 1.011427586093141, 0.7827193282639627, 0.36918129841716985, 0.6849157172916519, 3064511525.919532, 0.26518250312479674},
			0.47768004359515404, 0.37784874618952796,
		},
	} {
		r := must(c.by.Ratios(waveAnswers()))(t)
		nearAll(t, c.name, r.Values, c.want, 1e-12)
		checkClose(t, c.name+" forgotten", must(r.Forgotten())(t), c.forgotten, 1e-13)
		checkClose(t, c.name+" known", must(r.Known())(t), c.known, 1e-13)
		refuses(t, failure(r.Mean()), "is not aggregated by its mean")
	}
	r := must(TruthRatio{Form: ProbMean, Coded: true}.Ratios(waveAnswers()))(t)
	nearAll(t, "prob-mean", r.Values,
		[]float64{0.8546452245215992, 0.564540413957474, 0.6107737243430681, 0.8155195609389976, 0.6058569155408674, 4.927035750383245e-10, 0.802570717897641}, 1e-13)
	checkClose(t, "mean", must(r.Mean())(t), 0.6077009368131929, 1e-13)
	refuses(t, failure(r.Forgotten()), "prob-mean is aggregated by its mean")
	refuses(t, failure(r.Known()), "prob-mean is aggregated by its mean")
	refuses(t, failure(r.Log()), "prob-mean has no logarithm")
}

func TestTheFormsOfOneWrongAnswerAgree(t *testing.T) {
	a := Answers{Right: []float64{-1, -300}, Wrong: [][]float64{{-2}, {-900}}}
	g, m := must(TruthRatio{}.Ratios(a))(t), must(TruthRatio{Form: Arithmetic}.Ratios(a))(t)
	nearAll(t, "geometric and arithmetic", g.Values, m.Values, 1e-14)
	nearAll(t, "ln R", must(g.Log())(t), []float64{-1, -600}, 0)
	p := must(TruthRatio{Form: ProbMean}.Ratios(a))(t)
	for q, v := range p.Values {
		checkClose(t, "prob-mean is 1/(1+R)", v, 1/(1+g.Values[q]), 1e-15)
	}
	x := must(TruthRatio{}.Ratios(Answers{Right: []float64{-2, -900}, Wrong: [][]float64{{-1}, {-300}}}))(t)
	nearAll(t, "exchanged answers", must(x.Log())(t), []float64{1, 600}, 0)
}

// The arithmetic mean is the larger one.
func TestTheArithmeticFormIsTheLarger(t *testing.T) {
	g, m := must(TruthRatio{}.Ratios(waveAnswers()))(t), must(TruthRatio{Form: Arithmetic}.Ratios(waveAnswers()))(t)
	for q := range g.Values {
		if !(m.Values[q] > g.Values[q]) {
			t.Errorf("question %d: %v, %v", q, m.Values[q], g.Values[q])
		}
	}
}

func TestAnswersAreChecked(t *testing.T) {
	bad := Answers{Right: []float64{-1, math.NaN(), 0.5}, Wrong: [][]float64{{-1}, {}, {math.Inf(-1), -1}, {-1}}}
	_, err := TruthRatio{}.Ratios(bad)
	refuses(t, err, "3 questions with a right answer, 4 with wrong ones", "question 1: the right answer's log-probability is NaN",
		"question 2: the right answer's log-probability is above 0 (0.5)", "question 1 has no wrong answer", "question 2: the log-probability of wrong answer 0 is infinite")
	refuses(t, failure(TruthRatio{}.Ratios(Answers{})), "there are no questions")
	refuses(t, failure(TruthRatio{Form: 7}.Ratios(waveAnswers())), "there is no truth ratio form 7")
}

func TestArrangePutsAnswersToTheirQuestions(t *testing.T) {
	k := &Tokens{Offset: []int{0, 1, 3, 4, 5, 6, 7, 8}, LogProb: []float64{-1, -2, -4, -5, -6, -7, -8, -9}}
	places := []Place{{1, WrongAnswer}, {0, Paraphrase}, {0, WrongAnswer}, {1, TrueAnswer}, {1, Paraphrase}, {0, TrueAnswer}, {1, WrongAnswer}}
	a := must(Arrange(k, places, Paraphrase))(t)
	if !slices.Equal(a.Right, []float64{-3, -7}) || !slices.Equal(a.Wrong[0], []float64{-5}) || !slices.Equal(a.Wrong[1], []float64{-1, -9}) {
		t.Errorf("%+v", a)
	}
	if a = must(Arrange(k, places, TrueAnswer))(t); !slices.Equal(a.Right, []float64{-8, -6}) {
		t.Errorf("%+v", a)
	}
	refuses(t, failure(Arrange(k, places, WrongAnswer)), "answers of kind 2 are not right ones")
	refuses(t, failure(Arrange(k, places[1:], Paraphrase)), "6 places for 7 documents")
	places[4] = Place{0, Paraphrase}
	refuses(t, failure(Arrange(k, places, Paraphrase)), "question 0 has 2 right answers", "question 1 has 0 right answers")
	places[4] = Place{3, Paraphrase}
	refuses(t, failure(Arrange(k, places, Paraphrase)), "question 1 has 0 right answers", "question 2 has 0 right answers")
	places[4] = Place{7, Paraphrase}
	refuses(t, failure(Arrange(k, places, Paraphrase)), "document 4: question 7 of 7 documents")
}

// In NumPy and SciPy 1.17.1 (hmean): get_model_utility of locuslab/tofu bdc209ea in both files.
func TestUtilityIsThePrograms(t *testing.T) {
	var e UtilityEvidence
	for k, s := range []*QuestionSet{&e.Retain, &e.Authors, &e.Facts} {
		shift, a := -0.2*float64(k), waveAnswers()
		a.Right[5] = -1
		for q := range a.Right {
			s.True = append(s.True, -0.1-math.Abs(math.Cos(0.7*float64(q)))+shift)
			s.ROUGE = append(s.ROUGE, math.Abs(math.Sin(0.4*float64(q)+0.2)))
			a.Right[q] += shift
			for j := range a.Wrong[q] {
				a.Wrong[q][j] += shift / 2
			}
		}
		s.Answers = a
	}
	for _, c := range []struct {
		form TruthForm
		want []float64
	}{
		{Geometric, []float64{0.4609010752119158, 0.4750163174263709, 0.6982968465008146, 0.5331979248838924, 0.30192544803600085, 0.6982968465008146,
			0.48410392208431396, 0.2820100011807253, 0.6982968465008146, 0.42984665793829535}},
		{Arithmetic, []float64{0.4106047563366094, 0.4750163174263709, 0.6982968465008146, 0.398586501592648, 0.30192544803600085, 0.6982968465008146,
			0.3503597086900095, 0.2820100011807253, 0.6982968465008146, 0.3033606735059872}},
	} {
		u := must(Utility{Form: c.form}.Measure(e))(t)
		got := []float64{u.Value}
		for _, p := range []UtilityParts{u.Retain, u.Authors, u.Facts} {
			got = append(got, p.Probability, p.ROUGE, p.Truth)
		}
		nearAll(t, c.form.String(), got, c.want, 1e-13)
	}
	exchanged := e
	exchanged.Retain, exchanged.Facts = e.Facts, e.Retain
	if a, b := must(Utility{}.Measure(e))(t), must(Utility{}.Measure(exchanged))(t); math.Abs(a.Value-b.Value) < 1e-3 {
		t.Errorf("exchanged sets have a utility of %v, the others %v", b.Value, a.Value)
	}
	refuses(t, failure(Utility{Form: ProbMean}.Measure(e)), "utility: retain", "utility: facts", "prob-mean")
	e.Authors.ROUGE = []float64{0, 1, 2, 0, 0, 0, 0}
	refuses(t, failure(Utility{}.Measure(e)), "utility: authors: question 2: ROUGE is 2")
	e.Facts.True = nil
	refuses(t, failure(Utility{}.Measure(e)), "authors", "utility: facts: 0 true answers, 7 questions")
}

func TestHarmonicMean(t *testing.T) {
	checkClose(t, "by hand", must(HarmonicMean(1, 0.5, 0.25))(t), 3.0/7, 1e-15)
	checkClose(t, "with a 0", must(HarmonicMean(1, 0))(t), 0, 0)
	refuses(t, failure(HarmonicMean(1, -0.5)), "x[1] is -0.5")
	refuses(t, failure(HarmonicMean()), "x is empty")
	refuses(t, failure(HarmonicMean(math.NaN())), "x[0] is NaN")
}

// tofu bdc209ea: the true probability over the sum of all.
func TestOptionProbabilityIsThePrograms(t *testing.T) {
	a := waveAnswers()
	for q := range a.Right {
		a.Right[q] = -0.1 - math.Abs(math.Cos(0.7*float64(q)))
	}
	nearAll(t, "options", must(OptionProbability(a.Right, a.Wrong))(t),
		[]float64{0.24318268054072065, 0.27911980823968485, 0.44480600609725207, 0.31406173764113127, 0.34393715035213807, 0.18406456703405516, 0.44891643795099734}, 1e-13)
	nearAll(t, "alike, and far below float64", must(OptionProbability([]float64{-2000}, [][]float64{{-2000, -2000, -2000}}))(t), []float64{0.25}, 1e-15)
	refuses(t, failure(OptionProbability([]float64{1}, [][]float64{{-1}})), "question 0")
}
