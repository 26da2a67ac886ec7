// TOFU's model utility in its forms.

package language

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// QuestionSet holds a set of questions under one model.
type QuestionSet struct {
	True    []float64 // mean log-probability per token of the true answer
	Answers Answers   // the right answer in other words, or the true one, and wrong ones
	ROUGE   []float64 // ROUGE-L recall of what the model answers
}

// UtilityEvidence holds the three sets of TOFU's model utility, none of which was to be forgotten.
type UtilityEvidence struct {
	Retain  QuestionSet // about retained people: probability is that of Probability
	Authors QuestionSet // about real authors: probability is among the answers (OptionProbability)
	Facts   QuestionSet // about the world: the same
}

// Utility is TOFU's model utility (Maini et al. 2024, section 2.2.1): the harmonic mean of nine
// numbers, on each of three sets the mean probability, the mean ROUGE-L recall, and Ratios.Known.
//
// Null: the retrained model's utility. Direction: higher. It is in [0, 1], and 0 if one of the nine is.
//
// Two official programs differ in Form: Geometric (aggregate_eval_stat.py, open-unlearning) and
// Arithmetic (utils.py). Differences: (1) open-unlearning's 1e-10 in denominators are left out. (2)
// SciPy's hmean, which all use, is 0 with a 0 among the nine; so is this. (3) The study of UDS
// reports the harmonic mean of this value and a fluency as its utility: HarmonicMean makes it.
type Utility struct {
	Form TruthForm // ProbMean is refused: no program uses it here
}

// UtilityParts are the three numbers of a set.
type UtilityParts struct {
	Probability float64 `json:"probability"`
	ROUGE       float64 `json:"rouge"`
	Truth       float64 `json:"truth"`
}

// UtilityValue is a model utility and what it is made of.
type UtilityValue struct {
	Value   float64      `json:"value"`
	Form    TruthForm    `json:"form"`
	Retain  UtilityParts `json:"retain"`
	Authors UtilityParts `json:"authors"`
	Facts   UtilityParts `json:"facts"`
}

// Measure returns the utility. Errors name the set and the question.
func (u Utility) Measure(e UtilityEvidence) (UtilityValue, error) {
	out := UtilityValue{Form: u.Form}
	var errs [3]error
	out.Retain, errs[0] = u.parts("retain", e.Retain, false)
	out.Authors, errs[1] = u.parts("authors", e.Authors, true)
	out.Facts, errs[2] = u.parts("facts", e.Facts, true)
	if err := errors.Join(errs[:]...); err != nil {
		return UtilityValue{}, err
	}
	var nine []float64
	for _, p := range []UtilityParts{out.Retain, out.Authors, out.Facts} {
		nine = append(nine, p.Probability, p.ROUGE, p.Truth)
	}
	var err error
	out.Value, err = HarmonicMean(nine...)
	return out, err
}

// parts returns the numbers of a set, with probabilities among the options or not.
func (u Utility) parts(name string, s QuestionSet, options bool) (UtilityParts, error) {
	fail := func(err error) (UtilityParts, error) { return UtilityParts{}, fmt.Errorf("utility: %s: %w", name, err) }
	if len(s.True) != len(s.Answers.Right) || len(s.ROUGE) != len(s.True) {
		return fail(fmt.Errorf("%d true answers, %d questions with right and wrong ones, %d values of ROUGE", len(s.True), len(s.Answers.Right), len(s.ROUGE)))
	}
	ratios, err := TruthRatio{Form: u.Form}.Ratios(s.Answers)
	if err != nil {
		return fail(err)
	}
	p := UtilityParts{}
	if p.Truth, err = ratios.Known(); err != nil {
		return fail(err)
	}
	each, err := OptionProbability(s.True, s.Answers.Wrong) // it checks the true answers
	if err != nil {
		return fail(err)
	}
	for q, v := range s.True {
		if !options {
			each[q] = math.Exp(v)
		}
	}
	for q, v := range s.ROUGE {
		if !(v >= 0 && v <= 1) {
			return fail(fmt.Errorf("question %d: ROUGE is %v, want 0 to 1", q, v))
		}
	}
	p.Probability, p.ROUGE = mean(each), mean(s.ROUGE)
	return p, nil
}

// HarmonicMean returns n/sum(1/x), and 0 if one value is 0, as SciPy's hmean does. It refuses values
// below 0, not finite, and none at all.
func HarmonicMean(x ...float64) (float64, error) {
	if _, err := stats.Mean(x); err != nil {
		return 0, fmt.Errorf("harmonic mean: %w", err)
	}
	sum := 0.0
	for i, v := range x {
		if v < 0 {
			return 0, fmt.Errorf("harmonic mean: x[%d] is %v, below 0", i, v)
		}
		sum += 1 / v
	}
	return float64(len(x)) / sum, nil
}
