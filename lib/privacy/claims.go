package privacy

import (
	"fmt"
	"math"
)

// Claim is the guarantee that "BlindU" states for masking. SmallestDelta says what it is worth.
type Claim struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// ClaimWithReplacement is Claim 1, for k draws with replacement from n features:
//
//	epsilon = k ln((n+1)/n),  delta = 1 - ((n-1)/n)^k
//
// Table IV prints it with n = 100, although MNIST has 784 pixels.
func ClaimWithReplacement(n, k int) (Claim, error) {
	if n < 1 || k < 1 {
		return Claim{}, fmt.Errorf("privacy: %d draws from %d features", k, n)
	}
	return Claim{float64(k) * math.Log1p(1/float64(n)), drawnProbability(n, k, true)}, nil
}

// ClaimWithoutReplacement is Claim 2, for k draws without replacement from n features:
//
//	epsilon = ln((n+1)/(n+1-k)),  delta = k/n
//
// Table IV prints it with n = 100, and gives delta = 0.5 for k = 40 and 0.8 for k = 60. Those
// are the deltas of k = 50 and k = 80; the epsilons beside them are those of 40 and 60.
func ClaimWithoutReplacement(n, k int) (Claim, error) {
	if n < 1 || k < 1 || k > n {
		return Claim{}, fmt.Errorf("privacy: %d draws without replacement from %d features", k, n)
	}
	return Claim{-math.Log1p(-float64(k) / float64(n+1)), drawnProbability(n, k, false)}, nil
}

// Claim is the paper's claim for this masking of n features. It is an error for weighted draws,
// for which the paper claims nothing.
func (m Masking) Claim(n int) (Claim, error) {
	k, err := m.uniformDraws(n)
	if err != nil {
		return Claim{}, err
	}
	if m.Replacement {
		return ClaimWithReplacement(n, k)
	}
	return ClaimWithoutReplacement(n, k)
}

// Coverage is the mean share of n features that is sent unmasked: k/n without replacement and 1
// - ((n-1)/n)^k with replacement. At a rate of 60 % of many features it is 60 % and 45 %. It
// equals the claimed delta, by the same formula: the paper's failure probability is the share of
// the image that is sent as it is. It is an error for weighted draws.
func (m Masking) Coverage(n int) (float64, error) {
	k, err := m.uniformDraws(n)
	return drawnProbability(n, k, m.Replacement), err
}

// drawnProbability is the probability that one given feature of n is drawn.
func drawnProbability(n, k int, replacement bool) float64 {
	if replacement {
		return -math.Expm1(float64(k) * math.Log1p(-1/float64(n)))
	}
	return float64(k) / float64(n)
}

// SurvivalProbability is the probability that m given features of n are all sent unmasked (m is
// the argument features). An example are the four pixels of a trigger: 0.13 without replacement at a rate of
// 60 %, 0.04 with.
//
//	without: prod over i < m of (k-i)/(n-i)
//	with:    sum over i <= m of (-1)^i C(m, i) ((n-i)/n)^k
//
// The second sum cancels, so it is computed draw by draw, by the number of given features drawn
// so far. It is an error for weighted draws.
func (m Masking) SurvivalProbability(n, features int) (float64, error) {
	k, err := m.uniformDraws(n)
	switch {
	case err != nil:
		return 0, err
	case features < 0 || features > n:
		return 0, fmt.Errorf("privacy: %d given features of %d", features, n)
	case !m.Replacement:
		chance := 1.0
		for i := range features {
			chance *= max(0, float64(k-i)) / float64(n-i)
		}
		return chance, nil
	}
	met := make([]float64, features+1) // met[i]: probability that i of them are drawn
	met[0] = 1
	for range k {
		for i := features; i >= 0; i-- {
			met[i] = float64(met[i] * (1 - float64(features-i)/float64(n)))
			if i > 0 {
				met[i] += float64(met[i-1] * float64(features-i+1) / float64(n))
			}
		}
	}
	return met[features], nil
}

// uniformDraws is the number of draws from n features; it is an error for weighted draws.
func (m Masking) uniformDraws(n int) (int, error) {
	if m.Weighting == Exponential {
		return 0, fmt.Errorf("privacy: nothing is claimed of draws whose weights are the record's own values")
	}
	return m.NumDraws(n)
}
