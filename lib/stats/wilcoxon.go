package stats

import (
	"errors"
	"math"
)

// WilcoxonResult is the outcome of a two-sided signed-rank test.
type WilcoxonResult struct {
	W      float64 `json:"w"` // min(WPlus, WMinus)
	WPlus  float64 `json:"w_plus"`
	WMinus float64 `json:"w_minus"`
	P      float64 `json:"p"`
	N      int     `json:"n"`     // differences left after zeros are dropped
	Zeros  int     `json:"zeros"` // differences dropped
	Exact  bool    `json:"exact"` // P from the exact null distribution
	// RankBiserial is 1 - 4W/(n(n+1)), in [0, 1]: the effect size without sign.
	RankBiserial float64 `json:"rank_biserial"`
	// SignedRankBiserial is (WPlus - WMinus)/(n(n+1)/2), in [-1, 1].
	SignedRankBiserial float64 `json:"signed_rank_biserial"`
}

const (
	// exactWilcoxonBelow is the largest n with an exact null distribution whatever the ranks.
	exactWilcoxonBelow = 50
	// exactWilcoxonSteps bounds the additions of an exact null distribution of more
	// differences, if there are ties.
	exactWilcoxonSteps = 100_000_000
)

// Wilcoxon is the two-sided signed-rank test of differences that are symmetric about 0 under the
// null. Zeros are dropped before ranking (Wilcoxon's own rule, SciPy's zero_method="wilcox"; not
// Pratt's); the absolute values of the n others get mid-ranks; W is the smaller of the two rank
// sums.
//
// For n <= 50 the null distribution is exact, with ties and without: 2 P(W+ <= W) over the 2^n
// equally likely signs of the mid-ranks. For more differences it is exact if there are ties and
// the distribution can be counted (n up to about 700, many more if few values differ), because
// then the possible sums are few and not close to normal. Otherwise it is normal without
// continuity correction, as in SciPy:
//
//	z = (W - n(n+1)/4)/s, s^2 = n(n+1)(2n+1)/24 - sum (t^3 - t)/48.
//
// The smallest P is 2^(1-n): 0.0625 for n = 5, so a test at 5 % needs n >= 6. RULER, section 5. It
// refuses an empty slice, NaN, and differences that are all zero.
func Wilcoxon(diff []float64) (WilcoxonResult, error) {
	if err := checkOrdered("Wilcoxon", "diff", diff); err != nil {
		return WilcoxonResult{}, err
	}
	pos, neg := splitBySign(diff)
	n := len(pos) + len(neg)
	if n == 0 {
		return WilcoxonResult{}, errors.New("stats.Wilcoxon: diff has only zeros")
	}
	bs := blocks(pos, neg)
	r := WilcoxonResult{N: n, Zeros: len(diff) - n}
	r.WPlus, r.WMinus = signedRankSums(bs)
	r.W = math.Min(r.WPlus, r.WMinus)
	r.RankBiserial = RankBiserial(n, r.W)
	r.SignedRankBiserial = math.Copysign(r.RankBiserial, r.WPlus-r.WMinus)
	ranks, w := signedRanks(bs, r.W)
	r.Exact = n <= exactWilcoxonBelow || len(bs) < n && w < exactWilcoxonSteps/n
	if r.Exact {
		r.P = exactWilcoxon(ranks, w)
	} else {
		r.P = normalWilcoxon(bs, n, r.W)
	}
	return r, nil
}

// splitBySign returns the absolute values of the positive and of the negative
// differences.
func splitBySign(diff []float64) (pos, neg []float64) {
	for _, d := range diff {
		switch {
		case d > 0:
			pos = append(pos, d)
		case d < 0:
			neg = append(neg, -d)
		}
	}
	return pos, neg
}

// signedRankSums adds the mid-ranks of each sign.
func signedRankSums(bs []block) (plus, minus float64) {
	below := 0
	for _, b := range bs {
		t := b.pos + b.neg
		rank := float64(below) + float64(t+1)/2
		plus += float64(rank * float64(b.pos))
		minus += float64(rank * float64(b.neg))
		below += t
	}
	return plus, minus
}

// signedRanks returns the mid-ranks and a sum of them as integers without a common divisor. Ties
// leave few and large steps of the sum.
func signedRanks(bs []block, w float64) (ranks []int, sum int) {
	step, below := 0, 0
	for _, b := range bs {
		t := b.pos + b.neg
		ranks = appendTimes(ranks, 2*below+t+1, t)
		step = gcd(step, 2*below+t+1)
		below += t
	}
	for i := range ranks {
		ranks[i] /= step
	}
	return ranks, int(2*w) / step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// exactWilcoxon returns 2 P(W+ <= w), cut to 1, over all signs of the ranks, one rank after
// another: a sum s is s without the rank and a minus, or s-rank and a plus. For n <= 50 all shares
// are multiples of 2^-50 and exact.
func exactWilcoxon(ranks []int, w int) float64 {
	share := make([]float64, w+1) // P(W+ = s) of the ranks so far
	share[0] = 1
	for _, rank := range ranks {
		for s := w; s >= 0; s-- {
			if s >= rank {
				share[s] += share[s-rank]
			}
			share[s] /= 2
		}
	}
	return math.Min(1, 2*sumOf(share))
}

// normalWilcoxon returns the two-sided normal P of W.
func normalWilcoxon(bs []block, n int, w float64) float64 {
	nf, ties := float64(n), 0.0
	for _, b := range bs {
		ties += tieTerm(b.pos + b.neg)
	}
	v := nf*(nf+1)*(2*nf+1)/24 - ties/48
	return normalTwoSided((w - nf*(nf+1)/4) / math.Sqrt(v))
}

// RankBiserial returns the matched-pairs rank-biserial correlation of the paper, 1 - 4w/(n(n+1)),
// for the smaller signed-rank sum w of n differences: 1 if all differences have one sign, 0 if the
// two sums are equal. The usual marks are 0.1 small, 0.3 medium, 0.5 large. It is NaN if n is
// below 1 or w is outside [0, n(n+1)/4].
func RankBiserial(n int, w float64) float64 {
	most := float64(n) * float64(n+1)
	if n < 1 || !(w >= 0 && 4*w <= most) {
		return math.NaN()
	}
	return 1 - 4*w/most
}
