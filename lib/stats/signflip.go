package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// SignFlipResult is the outcome of a sign-flip test.
type SignFlipResult struct {
	Mean     float64 `json:"mean"`     // of the differences
	P        float64 `json:"p"`        // two-sided
	Smallest float64 `json:"smallest"` // the smallest P that this many clusters, or draws, can give
	Clusters int     `json:"clusters"`
	Exact    bool    `json:"exact"` // P from all signs
	Draws    int     `json:"draws"` // of signs, where P is not exact
}

const (
	exactSignFlips = 20   // the largest number of clusters of which all signs are tried
	signFlipDraws  = 9999 // draws of signs otherwise
)

// SignFlip tests whether paired differences have mean 0, where those of one cluster (an author's
// questions) may depend on each other in any way: under the null the differences of a cluster
// are, all together, as likely with the other sign, and clusters are independent.
//
//	P = share of the 2^G signs e with |sum over clusters c of e_c S_c| >= |sum over c of S_c|
//
// S_c is the sum of a cluster's differences (Fisher 1935; Canay, Romano and Shaikh 2017 for few
// clusters). cluster[i] is the cluster of diff[i]; nil makes every difference a cluster. Up to 20
// clusters all signs are tried and rng is not used. With more, P is (1 + how many reach it)/(1 +
// draws), of draws signs from rng; 0 means 9999.
//
// The smallest P is 2^(1-G), 0.0625 for five clusters: fewer than six cannot reject at 5 %. It
// refuses what is not finite, lengths that do not match, and more than 20 clusters without rng.
func SignFlip(diff []float64, cluster Clusters, draws int, rng *rand.Rand) (SignFlipResult, error) {
	if err := checkFinite("SignFlip", "diff", diff); err != nil {
		return SignFlipResult{}, err
	}
	if cluster != nil && len(cluster) != len(diff) {
		return SignFlipResult{}, checkSameLength("SignFlip", "diff", len(diff), "cluster", len(cluster))
	}
	if draws == 0 {
		draws = signFlipDraws
	}
	if draws < 1 {
		return SignFlipResult{}, fmt.Errorf("stats.SignFlip: draws is %d, want at least 1", draws)
	}
	sums := sumByCluster([]part{{residuals: diff, of: cluster}}).sums[0]
	r := SignFlipResult{Mean: meanOf(diff), Clusters: len(sums), Exact: len(sums) <= exactSignFlips}
	if r.Exact {
		r.P, r.Smallest = allSigns(sums), math.Ldexp(1, 1-len(sums))
		return r, nil
	}
	if rng == nil {
		return SignFlipResult{}, fmt.Errorf("stats.SignFlip: rng is nil, and %d clusters have too many signs to try all", len(sums))
	}
	r.Draws, r.Smallest = draws, 1/float64(draws+1)
	r.P = drawnSigns(sums, draws, rng)
	return r, nil
}

// reached returns the magnitude from which a sum counts as at least the observed one: less by what
// rounding can do, so that equal sums added in another order count.
func reached(sums []float64) float64 {
	magnitude := 0.0
	for _, s := range sums {
		magnitude += math.Abs(s)
	}
	return math.Abs(sumOf(sums)) - 1e-12*magnitude
}

// allSigns returns P over all signs. The first cluster keeps its sign: the opposite signs give the
// same magnitudes. The others are halved, and every sum of one half is added to every one of the
// other.
func allSigns(sums []float64) float64 {
	bar, rest := reached(sums), sums[1:]
	low, high := signedSums(rest[:len(rest)/2], 0), signedSums(rest[len(rest)/2:], sums[0])
	count := 0
	for _, h := range high {
		for _, l := range low {
			if math.Abs(h+l) >= bar {
				count++
			}
		}
	}
	return float64(count) / (float64(len(low)) * float64(len(high)))
}

// signedSums returns start plus the sum of values with each of their 2^n signs.
func signedSums(values []float64, start float64) []float64 {
	out := []float64{start}
	for _, v := range values {
		for _, s := range out[:len(out):len(out)] {
			out = append(out, s-v)
		}
		for i := range len(out) / 2 {
			out[i] += v
		}
	}
	return out
}

// drawnSigns returns P over random signs and the observed ones.
func drawnSigns(sums []float64, draws int, rng *rand.Rand) float64 {
	bar, count := reached(sums), 1
	for range draws {
		total, bits := 0.0, uint64(0)
		for k, s := range sums {
			if k%64 == 0 {
				bits = rng.Uint64()
			}
			if bits>>(k%64)&1 == 1 {
				s = -s
			}
			total += s
		}
		if math.Abs(total) >= bar {
			count++
		}
	}
	return float64(count) / float64(draws+1)
}
