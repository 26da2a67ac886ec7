package language

import (
	"fmt"
	"math"
)

// Probability is the probability of a document, normalised by its length (Maini et al. 2024, TOFU,
// section 2.2):
//
//	score = exp(mean_t l_t), the reciprocal of the perplexity
//
// Needs LogProb. Its order is that of Loss. Direction: higher is more like a member; as a metric on
// the forget set the null is the retrained model's, since a model also guesses. It is in (0, 1].
//
// Differences from open-unlearning's memorization.py: (1) those of Loss, 2. (2) An empty answer is
// 0/0 there and makes the mean NaN; here it is refused.
type Probability struct{}

var _ Score = Probability{}

// Name implements Score.
func (Probability) Name() string { return "probability" }

// About implements Score.
func (Probability) About() string { return "probability of the document, normalised by its length" }

// Scores implements Score.
func (p Probability) Scores(e Evidence) ([]float64, error) {
	return e.Target.perDocument(p.Name(), func(from, to int) float64 { return math.Exp(mean(e.Target.LogProb[from:to])) })
}

// OptionProbability is the probability of the right answer among the given ones:
//
//	c/(c + sum_j w_j),  c and w_j as in Probability, of the right and the wrong answers
//
// TOFU takes it in place of Probability on questions about real authors and the world. With k wrong
// answers, one that cannot tell gives 1/(k+1). open-unlearning's probability_w_options adds 1e-10 to
// the denominator, TOFU's program does not; neither does this. It is computed without underflow.
func OptionProbability(right []float64, wrong [][]float64) ([]float64, error) {
	a := Answers{Right: right, Wrong: wrong}
	if err := a.Check(); err != nil {
		return nil, fmt.Errorf("probability among options: %w", err)
	}
	out := make([]float64, len(right))
	for q, c := range right {
		sum := 1.0
		for _, w := range wrong[q] {
			sum += math.Exp(w - c)
		}
		out[q] = 1 / sum
	}
	return out, nil
}
