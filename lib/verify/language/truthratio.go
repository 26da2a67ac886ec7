// The truth ratio in its three official forms, with their aggregates.

package language

import (
	"errors"
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// TruthForm is one of the three official forms of the truth ratio.
type TruthForm int

// The forms, with c = exp(right), the right answer's probability per token, and k wrong answers.
const (
	// Geometric is R = w/c with w = exp(mean over the k answers of their mean l): TOFU's
	// aggregate_eval_stat.py and its forget quality, and open-unlearning's forget and retain ratio.
	Geometric TruthForm = iota
	// Arithmetic is R = w/c with w the mean over the k answers of exp(mean l): the paper's Equation 1
	// and the same function in TOFU's utils.py.
	Arithmetic
	// ProbMean is c/(c+w), w as in Geometric: open-unlearning's measure of knowledge. It is higher for
	// a model that knows; the other two are lower.
	ProbMean
)

// String returns the form's name.
func (f TruthForm) String() string {
	if f < Geometric || f > ProbMean {
		return fmt.Sprintf("truth ratio form %d", int(f))
	}
	return [...]string{"geometric", "arithmetic", "prob-mean"}[f]
}

// TruthRatio says how much more probable wrong answers are than the right one in other words (Maini
// et al. 2024, TOFU, section 2.2.2). A number without its form cannot be compared: on TOFU's models
// the choice moves model utility by more than unlearning does.
//
// Per question R is above 0. Direction on the forget set: none; the null is the retrained model's
// distribution of R (PairedQuality, ForgetQuality). About 1 or more where right and wrong cannot be
// told apart, near 0 for a model that knows. Exchanging right and wrong answers gives 1/R in the
// geometric form with one wrong answer.
//
// Differences: (1) open-unlearning adds 1e-10 to denominators, which matters where an answer has
// less than about 1e-8 per token; TOFU's programs add nothing. Coded does as open-unlearning.
// (2) All programs average over all labelled tokens, the end of the text among them. (3) Everything
// is computed from logarithms, so that ratios of small probabilities stay exact.
type TruthRatio struct {
	Form  TruthForm
	Coded bool // with open-unlearning's 1e-10
}

const codedEpsilon = 1e-10

// Ratios are truth ratios of questions, with their form.
type Ratios struct {
	Form   TruthForm
	Values []float64

	logs  []float64 // ln R, without epsilon; nil for ProbMean
	coded bool
}

// Ratios returns the ratio of every question.
func (r TruthRatio) Ratios(a Answers) (Ratios, error) {
	if r.Form < Geometric || r.Form > ProbMean {
		return Ratios{}, fmt.Errorf("there is no %v", r.Form)
	}
	if err := a.Check(); err != nil {
		return Ratios{}, fmt.Errorf("truth ratio: %w", err)
	}
	out := Ratios{Form: r.Form, Values: make([]float64, len(a.Right)), coded: r.Coded}
	for q, right := range a.Right {
		log := r.logWrong(a.Wrong[q]) - right
		out.Values[q] = r.value(right, log)
		if r.Form != ProbMean {
			out.logs = append(out.logs, log)
		}
	}
	return out, nil
}

// logWrong returns ln w.
func (r TruthRatio) logWrong(wrong []float64) float64 {
	if r.Form != Arithmetic {
		return mean(wrong)
	}
	top, sum := math.Inf(-1), 0.0
	for _, v := range wrong {
		top = max(top, v)
	}
	for _, v := range wrong {
		sum += math.Exp(v - top)
	}
	return top + math.Log(sum/float64(len(wrong)))
}

// value returns the ratio of ln c and ln w/c.
func (r TruthRatio) value(right, log float64) float64 {
	c := math.Exp(right)
	switch {
	case r.Coded && r.Form == ProbMean:
		return c / (c + math.Exp(log+right) + codedEpsilon)
	case r.Form == ProbMean:
		return 1 / (1 + math.Exp(log))
	case r.Coded:
		return math.Exp(log+right) / (c + codedEpsilon)
	}
	return math.Exp(log)
}

// Log returns ln R of every question, which is what differences between models are taken of. ProbMean
// has none: it is not R.
func (r Ratios) Log() ([]float64, error) {
	if r.logs == nil {
		return nil, errors.New("truth ratio: the form " + r.Form.String() + " has no logarithm: take the geometric or the arithmetic form")
	}
	return append([]float64(nil), r.logs...), nil
}

// Forgotten returns the programs' aggregate on the forget set, the mean of min(R, 1/R), in [0, 1]. It
// is 1 where right and wrong are alike for every question; a model that prefers wrong answers is
// punished as one that knows. Coded, it is min(R, 1/(R + 1e-10)).
func (r Ratios) Forgotten() (float64, error) {
	return r.aggregate("forgotten", func(v float64) float64 {
		if r.coded {
			return min(v, 1/(v+codedEpsilon))
		}
		return min(v, 1/v)
	})
}

// Known returns the programs' aggregate on other sets, the mean of max(0, 1-R), in [0, 1]: higher is a
// model that knows more.
func (r Ratios) Known() (float64, error) {
	return r.aggregate("known", func(v float64) float64 { return max(0, 1-v) })
}

func (r Ratios) aggregate(name string, f func(float64) float64) (float64, error) {
	if r.Form == ProbMean {
		return 0, fmt.Errorf("truth ratio: the form %v is aggregated by its mean, not as %s", r.Form, name)
	}
	values := make([]float64, len(r.Values))
	for q, v := range r.Values {
		values[q] = f(v)
	}
	return stats.Mean(values)
}

// Mean returns the mean of ProbMean over questions, in [0, 1]: higher is a model that knows more. The
// other forms are ratios, whose mean a single question decides; they are refused.
func (r Ratios) Mean() (float64, error) {
	if r.Form != ProbMean {
		return 0, fmt.Errorf("truth ratio: the form %v is not aggregated by its mean", r.Form)
	}
	return stats.Mean(r.Values)
}
