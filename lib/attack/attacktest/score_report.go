// The calibration check of attacks: without a memory, intervals and floors hold as
// often as their levels say.

package attacktest

import (
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/stats"
)

// scoreReport is a report on scores.
type scoreReport struct{ *attack.ScoreReport }

func (j scoreReport) auc() stats.Estimate {
	return stats.Estimate{Value: j.AUC.Value, Low: j.AUC.Low, High: j.AUC.High}
}

// checkNominal runs cases without a memory. It checks that the intervals of the AUC hold 0.5, and
// that the advantages pass the floor, as often as their levels say: within three standard errors,
// plus 1 % for normal approximations.
func checkNominal(t *testing.T, cases int, run func(k uint64) scoreReport) {
	t.Helper()
	held, beyond := 0, 0
	var areas []float64
	for k := range cases {
		r := run(uint64(k))
		areas = append(areas, r.AUC.Value)
		if r.AUC.Low <= 0.5 && 0.5 <= r.AUC.High {
			held++
		}
		if r.Advantage.Value > r.Advantage.ChanceP95 {
			beyond++
		}
	}
	slack := 0.01 + 3*math.Sqrt(0.95*0.05/float64(cases))
	if c := float64(held) / float64(cases); math.Abs(c-0.95) > slack {
		t.Errorf("%.3f of the 95 %% intervals hold 0.5", c)
	}
	if b := float64(beyond) / float64(cases); math.Abs(b-0.05) > slack {
		t.Errorf("%.3f of the advantages are beyond the floor's 95th percentile", b)
	}
	if e := stats.MeanInterval(areas, 0.999, "cases"); e.Low > 0.5 || e.High < 0.5 {
		t.Errorf("the AUC without a memory is %v on average, [%v, %v]", e.Value, e.Low, e.High)
	}
}
