package sde

import (
	"fmt"
	"math"

	"github.com/lethe-ml/lethe/lib/stats"
)

// ShareOut is the share of verdicts that algorithm 2 calls out, including ties (see Tally.RateOut),
// with Wilson's 95 % interval; over names the unit of the verdicts. Null: 0.5, guessing.
func ShareOut(verdicts []Verdict, over string) stats.Estimate {
	return stats.Share(verdicts, over, func(v Verdict) bool { return v != In }).WithNull(0.5, stats.NearNull)
}

// Agreement is the share of equal verdicts of two methods on the same sets, with Wilson's 95 %
// interval.
func Agreement(a, b []Verdict, over string) (stats.Estimate, error) {
	if len(a) != len(b) {
		return stats.Estimate{}, fmt.Errorf("sde: %d verdicts of one judge and %d of the other", len(a), len(b))
	}
	k := -1
	return stats.Share(a, over, func(v Verdict) bool { k++; return v == b[k] }), nil
}

// MeanZScore is the distance of the mean of the draws from its exact value, in standard errors of
// the mean. Null: 0.
func (d *Distribution) MeanZScore() float64 {
	return (d.Mean - d.ExactMean) / d.SD * math.Sqrt(float64(len(d.Values)))
}
