package language

import (
	"errors"
	"math"
)

// MinKPlusPlus is Min-K % of log-probabilities that are standardised by what the model expects in
// their place (Zhang et al. 2025, Min-K%++):
//
//	z_t = (l_t - mu_t)/max(sigma_t, 1e-3)
//	score = mean of the max(1, floor(K T)) smallest z_t
//
// with K = 0.2 and mu_t, sigma_t as in Tokens. Needs LogProb, Mean and Deviation. Direction: higher
// is more like a member. Null: see Score. It does not depend on the base of the logarithms,
// except through the bound on sigma.
//
// Differences: those of MinK, and (1) the bound on sigma is open-unlearning's (1e-6 on sigma^2);
// mimir and mink-plus-plus have none, and a token that is certain makes their score NaN. (2) The
// programs compute sigma^2 as a difference in the model's precision, in which it can come out below
// 0; so can who saves the arrays. Check refuses the NaN that its root is.
type MinKPlusPlus struct {
	K float64 // 0: 0.2
}

var _ Score = MinKPlusPlus{}

// leastDeviation is the root of open-unlearning's bound on the variance.
const leastDeviation = 1e-3

// Name implements Score.
func (MinKPlusPlus) Name() string { return "min-k++" }

// About implements Score.
func (MinKPlusPlus) About() string {
	return "mean of the least standardised log-probabilities"
}

// Scores implements Score.
func (m MinKPlusPlus) Scores(e Evidence) ([]float64, error) {
	share, err := share(m.Name(), m.K)
	if err != nil {
		return nil, err
	}
	t := e.Target
	if t != nil && (t.Mean == nil || t.Deviation == nil) {
		return nil, errors.New(m.Name() + ": the means and deviations of tokens are missing")
	}
	return t.perDocument(m.Name(), func(from, to int) float64 {
		z := make([]float64, 0, to-from)
		for i := from; i < to; i++ {
			z = append(z, (t.LogProb[i]-t.Mean[i])/math.Max(t.Deviation[i], leastDeviation))
		}
		return meanOfLowest(z, share)
	})
}
