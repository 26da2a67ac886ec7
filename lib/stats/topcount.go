// Positives above all but a few negatives: an exact count.

package stats

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/combin"
)

// TopCount counts positives above all but a few negatives.
type TopCount struct {
	Threshold float64 // the (Spared+1)-th largest negative
	Above     int     // positives that score above it
	// Spared is the number of negatives that may score higher still.
	Spared int
	// Expected is the mean of Above if both come from one distribution without ties,
	// (Spared+1) n_pos/(n_neg+1).
	Expected float64
	// P is the probability of at least as many as Above, if both come from one distribution.
	P float64
}

// CountTop counts the positives above the (spared+1)-th largest negative, for scores where higher means
// positive. This is the precedence test (Nelson 1963), and P is exact whatever the distribution: of the
// Above + spared records that score highest, at most spared are negatives,
//
//	P = sum_(i <= spared) C(n_neg, i) C(n_pos, Above+spared-i) / C(n_neg+n_pos, Above+spared)
//
// Positives that tie with that negative are not counted, so that with ties P is too large and never too
// small. P takes the records as independent. It refuses an empty sample, NaN, and a spared outside
// [0, n_neg).
func CountTop(pos, neg []float64, spared int) (TopCount, error) {
	if err := checkScores("CountTop", pos, neg); err != nil {
		return TopCount{}, err
	}
	if spared < 0 || spared >= len(neg) {
		return TopCount{}, fmt.Errorf("stats.CountTop: spared is %d, want 0 <= spared < %d, the number of negatives", spared, len(neg))
	}
	up := slices.Sorted(slices.Values(neg))
	out := TopCount{Threshold: up[len(up)-1-spared], Spared: spared, Expected: float64(spared+1) * float64(len(pos)) / float64(len(neg)+1)}
	for _, s := range pos {
		if s > out.Threshold {
			out.Above++
		}
	}
	out.P = chanceOfTop(out.Above, spared, len(pos), len(neg))
	return out, nil
}

// LeastTop returns the smallest Above of which CountTop's P is at most limit, for nPos positives and nNeg
// negatives; more than nPos if none is. It refuses samples and a spared that CountTop refuses.
func LeastTop(nPos, nNeg, spared int, limit float64) (int, error) {
	if nPos < 1 || spared < 0 || spared >= nNeg {
		return 0, fmt.Errorf("stats.LeastTop: %d positives, %d negatives and spared %d, want one positive or more and 0 <= spared < negatives",
			nPos, nNeg, spared)
	}
	return sort.Search(nPos+1, func(above int) bool { return chanceOfTop(above, spared, nPos, nNeg) <= limit }), nil
}

// chanceOfTop is the probability that as many positives or more lie above the (spared+1)-th largest negative.
func chanceOfTop(above, spared, nPos, nNeg int) float64 {
	p := 0.0
	for i := range spared + 1 {
		p += hypergeometric(i, above+spared, nNeg, nPos)
	}
	return min(1, p)
}

// hypergeometric is the probability that of n records drawn without replacement, from marked ones and
// others, k are marked.
func hypergeometric(k, n, marked, others int) float64 {
	if k > min(n, marked) || n-k > others {
		return 0
	}
	choose := func(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
	return math.Exp(choose(marked, k) + choose(others, n-k) - choose(marked+others, n))
}
