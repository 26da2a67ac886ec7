package attack

import (
	"errors"
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
)

// Interval is a value with its interval.
type Interval struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Advantage is an attacker's advantage over guessing.
type Advantage struct {
	// Value is |2 AUC - 1|, for an attacker who knows which way to read the score; Low and High are
	// the image of the interval of Signed.
	Value float64 `json:"value"`
	// Signed is 2 AUC - 1: negative when non-members score higher, as they do
	// after over-unlearning.
	Signed float64 `json:"signed"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	// ChanceMean and ChanceP95 are the mean and the 95th percentile of Value if members and
	// non-members are exchangeable.
	ChanceMean float64 `json:"chance_mean"`
	ChanceP95  float64 `json:"chance_p95"`
}

// ScoreReport says how well scores tell members from non-members.
type ScoreReport struct {
	AUC       Interval  `json:"auc"`
	Advantage Advantage `json:"advantage"`
	// TPRAtFPR maps a false positive rate, written as in "0.001", to the
	// largest true positive rate that a threshold reaches without exceeding it.
	TPRAtFPR    map[string]float64 `json:"tpr_at_fpr"`
	NMembers    int                `json:"n_members"`
	NNonmembers int                `json:"n_nonmembers"`
}

// ReportedFPR are the false positive rates at which the true positive rate is
// reported.
var ReportedFPR = []float64{0.001, 0.01, 0.05, 0.1}

// Samples are values of records in two roles.
type Samples struct{ Members, Nonmembers []float64 }

// Score measures how well scores tell members from non-members, higher meaning member, with
// intervals of the given coverage (DeLong's for the AUC).
//
// The AUC is signed: below 0.5, its null, non-members score higher. An advantage below ChanceMean
// is no evidence. It refuses an empty sample, a score that is not finite, and a level outside (0,
// 1).
func Score(s Samples, level float64) (*ScoreReport, error) { return score(s, level, stats.DeLong) }

// ScoreByOdds is Score with the interval of stats.AUCOdds, which covers better for few records. Score keeps DeLong's
// for what is in the store.
func ScoreByOdds(s Samples, level float64) (*ScoreReport, error) {
	return score(s, level, stats.AUCOdds)
}

func score(s Samples, level float64, estimate func(members, nonmembers []float64, level float64) (stats.Estimate, error)) (*ScoreReport, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	auc, err := estimate(s.Members, s.Nonmembers, level)
	if err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	r := &ScoreReport{
		AUC:         Interval{auc.Value, auc.Low, auc.High},
		Advantage:   advantage(auc, stats.ChanceFloor(len(s.Members), len(s.Nonmembers))),
		TPRAtFPR:    make(map[string]float64),
		NMembers:    len(s.Members),
		NNonmembers: len(s.Nonmembers),
	}
	for _, fpr := range ReportedFPR {
		tpr, err := stats.TPRAtFPR(s.Members, s.Nonmembers, fpr)
		if err != nil {
			return nil, fmt.Errorf("attack: %w", err)
		}
		r.TPRAtFPR[fmt.Sprint(fpr)] = tpr
	}
	return r, nil
}

func (s Samples) check() error {
	switch {
	case len(s.Members) == 0:
		return errors.New("attack: there are no members")
	case len(s.Nonmembers) == 0:
		return errors.New("attack: there are no non-members")
	}
	return errors.Join(checkFinite("members", s.Members), checkFinite("nonmembers", s.Nonmembers))
}

func advantage(auc stats.Estimate, floor stats.Floor) Advantage {
	signed := stats.Estimate{Value: 2*auc.Value - 1, Low: 2*auc.Low - 1, High: 2*auc.High - 1}
	size := signed.Unsigned()
	return Advantage{Value: size.Value, Signed: signed.Value, Low: size.Low, High: size.High,
		ChanceMean: floor.Mean, ChanceP95: floor.P95}
}
