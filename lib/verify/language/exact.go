package language

import "errors"

// ExactMemorisation is the share of a document's tokens that are the model's most probable ones,
// with the document's own tokens before each (Tirumala et al. 2022; open-unlearning):
//
//	score = (1/T) sum_t 1[argmax_v p_t(v) = x_t]
//
// Needs Correct. Direction: higher is more like a member; the null is the retrained model's, since
// much of a text can be guessed. It is in [0, 1].
//
// Differences from open-unlearning's memorization.py: (1) the program leaves out the last token, the
// end of the text; see Tokens.WithoutLast. (2) A document without another token has no value
// there and is left out of the mean; here it is refused.
type ExactMemorisation struct{}

var _ Score = ExactMemorisation{}

// Name implements Score.
func (ExactMemorisation) Name() string { return "exact-memorisation" }

// About implements Score.
func (ExactMemorisation) About() string { return "share of tokens that are the most probable ones" }

// Scores implements Score.
func (x ExactMemorisation) Scores(e Evidence) ([]float64, error) {
	return e.Target.perCorrect(x.Name(), func(correct []bool) float64 {
		n := 0
		for _, c := range correct {
			if c {
				n++
			}
		}
		return float64(n) / float64(len(correct))
	})
}

// perCorrect is perDocument on the marks of correct tokens.
func (t *Tokens) perCorrect(name string, f func(correct []bool) float64) ([]float64, error) {
	if t != nil && t.Correct == nil {
		return nil, errors.New(name + ": the marks of correct tokens are missing")
	}
	return t.perDocument(name, func(from, to int) float64 { return f(t.Correct[from:to]) })
}
