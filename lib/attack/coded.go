// Bootstrap intervals of the AUC and the advantage as the program of "Fishing for
// Privacy" computes them.

package attack

import (
	"fmt"
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
	"github.com/lethe-ml/lethe/lib/stats/nprand"
)

// Coded holds the intervals that the program of "Fishing for Privacy" prints for one model. Score
// has DeLong's, which are preferred.
type Coded struct {
	AUC       Interval `json:"auc"`
	Advantage Interval `json:"advantage"` // of 2 |AUC - 1/2|
}

const codedResamples = 1000

// CodedBootstrap returns the 95 % percentile intervals of the AUC and of 2 |AUC - 1/2| as the
// published program computes them: 1,000 resamples of the records, members before non-members,
// drawn by NumPy's RandomState(42) regardless of role. A resample without one of the roles is left
// out.
//
// Two errors of the program are reproduced: (1) the interval of the unsigned advantage can never
// hold 0, so that it excludes the null for every model; (2) it is over the records of one model,
// and was read as one over models.
//
// It refuses an empty sample and a score that is not finite.
func CodedBootstrap(s Samples) (*Coded, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	n, rs := len(s.Members)+len(s.Nonmembers), nprand.New(paperSeed)
	areas, err := stats.AUCResampled(s.Members, s.Nonmembers, codedResamples, func() []int { return rs.Integers(n, n) })
	if err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	areas = slices.DeleteFunc(areas, math.IsNaN)
	advantages := make([]float64, len(areas))
	for i, a := range areas {
		advantages[i] = 2 * math.Abs(a-0.5)
	}
	a, err := stats.Advantage(s.Members, s.Nonmembers)
	if err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	out := &Coded{AUC: Interval{Value: (1 + a.Signed) / 2}, Advantage: Interval{Value: a.Unsigned}}
	if out.AUC.Low, out.AUC.High, err = stats.PercentileInterval(areas, defaultLevel); err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	if out.Advantage.Low, out.Advantage.High, err = stats.PercentileInterval(advantages, defaultLevel); err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	return out, nil
}
