package language

import (
	"fmt"
	"slices"
)

// MinK is the mean log-probability of a document's least probable tokens (Shi et al. 2024, Min-K %
// Prob): a text that was seen has no outliers.
//
//	score = mean of the max(1, floor(K T)) smallest l_t
//
// with K = 0.2; MUSE's PrivLeak has 0.4, and open-unlearning sets 0.4 in its evaluations (its
// program's default is 0.2). Needs LogProb. Direction: higher is more like a member. Null: see Score.
//
// Differences: (1) the sign is the paper's and mink-plus-plus's; in open-unlearning, mimir and MUSE
// the score is minus this. (2) mimir, MUSE and mink-plus-plus take floor(K T) tokens without the
// max, which is none, and a score of NaN, for T < 1/K; open-unlearning has the max. (3)
// open-unlearning gives an empty answer 0, the score of a text that is known perfectly; here it is
// refused. (4) open-unlearning leaves out the last token (Tokens.WithoutLast). (5) mimir can
// take means of windows of tokens; its default is single ones, as here.
type MinK struct {
	K float64 // 0: 0.2
}

var _ Score = MinK{}

// Name implements Score.
func (MinK) Name() string { return "min-k" }

// About implements Score.
func (MinK) About() string { return "mean log-probability of the least probable tokens" }

// Scores implements Score.
func (m MinK) Scores(e Evidence) ([]float64, error) {
	share, err := share(m.Name(), m.K)
	if err != nil {
		return nil, err
	}
	return e.Target.perDocument(m.Name(), func(from, to int) float64 { return meanOfLowest(slices.Clone(e.Target.LogProb[from:to]), share) })
}

// share returns the share of tokens, the default for 0.
func share(name string, k float64) (float64, error) {
	if k == 0 {
		k = 0.2
	}
	if !(k > 0 && k <= 1) {
		return 0, fmt.Errorf("%s: K is %v, want a share above 0 and at most 1", name, k)
	}
	return k, nil
}

// meanOfLowest returns the mean of the max(1, floor(share n)) smallest values. It sorts them.
func meanOfLowest(x []float64, share float64) float64 {
	slices.Sort(x)
	return mean(x[:max(1, int(share*float64(len(x))))])
}
