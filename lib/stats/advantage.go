package stats

import (
	"math"
	"math/rand/v2"
)

// Advantages are three measures of an attack's advantage over guessing, from scores where higher
// means positive (member).
type Advantages struct {
	// Signed is 2 AUC - 1, in [-1, 1]: P(pos > neg) - P(pos < neg) over random
	// pairs. Null 0; negative where the scores point the wrong way. Its mean under
	// the null is exactly 0 at every sample size.
	Signed float64 `json:"signed"`
	// Unsigned is |2 AUC - 1|, in [0, 1]: the advantage of an adversary who knows the
	// direction of the score. Its mean under the null is above 0; see ChanceFloor.
	Unsigned float64 `json:"unsigned"`
	// Best is max over thresholds t of TPR(t) - FPR(t), in [0, 1]: Youden's J, the
	// one-sided Kolmogorov-Smirnov distance. The threshold is chosen on the same
	// records, so its mean under the null is above 0 too.
	Best float64 `json:"best"`
}

// Advantage returns the three advantages of one set of scores. It refuses an empty sample and NaN.
func Advantage(pos, neg []float64) (Advantages, error) {
	if err := checkScores("Advantage", pos, neg); err != nil {
		return Advantages{}, err
	}
	bs := blocks(pos, neg)
	signed := 2*aucOf(twiceU(bs), len(pos), len(neg)) - 1
	return Advantages{Signed: signed, Unsigned: math.Abs(signed), Best: youden(bs, len(pos), len(neg))}, nil
}

// youden returns the largest TPR - FPR over all thresholds.
func youden(bs []block, nPos, nNeg int) float64 {
	best := 0.0
	p, n := 0, 0
	for _, b := range bs {
		p, n = p+b.pos, n+b.neg
		best = math.Max(best, float64(n)/float64(nNeg)-float64(p)/float64(nPos))
	}
	return best
}

// AdvantageInterval returns the signed advantage 2 AUC - 1 with the percentile interval of a
// bootstrap over records; positives and negatives are drawn separately. The null value is 0. For
// the unsigned advantage use Estimate.Unsigned of the result: a bootstrap of |2 AUC - 1| is biased
// upwards and never includes 0. If the classes do not overlap the interval has no width, as in
// AUCBootstrap; use 2 AUC - 1 of DeLong then. It covers as AUCBootstrap does, and refuses what that refuses.
func AdvantageInterval(pos, neg []float64, level float64, reps int, rng *rand.Rand) (Estimate, error) {
	samples, err := bootstrapAUC("AdvantageInterval", pos, neg, level, reps, rng)
	if err != nil {
		return Estimate{}, err
	}
	for i, a := range samples {
		samples[i] = 2*a - 1
	}
	value := 2*aucOf(twiceU(blocks(pos, neg)), len(pos), len(neg)) - 1
	return recordsEstimate(samples, value, level, 0, len(pos)+len(neg))
}
