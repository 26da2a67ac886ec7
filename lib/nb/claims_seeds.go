// Claims about the mean of several runs with different seeds.

package nb

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
)

// The claims below are about the mean of several runs, each with its own seeds. A
// claim holds if the whole 95 % interval of the mean (Student's t over the runs)
// lies on the claimed side. With fewer than two runs it fails.

// MeanAbove claims that the mean of the runs is above bound.
func MeanAbove(statement string, bound float64, runs ...float64) Claim {
	return claimOverRuns(statement, runs, "above "+formatNumber(bound), func(e stats.Estimate) bool { return e.Low > bound })
}

// MeanBelow claims that the mean of the runs is below bound.
func MeanBelow(statement string, bound float64, runs ...float64) Claim {
	return claimOverRuns(statement, runs, "below "+formatNumber(bound), func(e stats.Estimate) bool { return e.High < bound })
}

// MeanWithin claims that the mean of the runs lies between low and high.
func MeanWithin(statement string, low, high float64, runs ...float64) Claim {
	side := fmt.Sprintf("inside %s to %s", formatNumber(low), formatNumber(high))
	return claimOverRuns(statement, runs, side, func(e stats.Estimate) bool { return low <= e.Low && e.High <= high })
}

func claimOverRuns(statement string, runs []float64, side string, holds func(stats.Estimate) bool) Claim {
	if len(runs) < 2 {
		return Claim{Statement: statement, Evidence: fmt.Sprintf("%d runs have no interval", len(runs))}
	}
	e := stats.MeanInterval(runs, 0.95, "runs")
	c := Claim{Statement: statement, Holds: e.HasInterval() && holds(e)}
	if !c.Holds {
		side = "expected " + side
	}
	c.Evidence = fmt.Sprintf("mean of %d runs %s [%s, %s], %s", len(runs), formatNumber(e.Value), formatNumber(e.Low), formatNumber(e.High), side)
	return c
}

// Runs returns value(0), ..., value(runs-1).
func Runs(runs int, value func(run int) float64) []float64 {
	out := make([]float64, runs)
	for run := range out {
		out[run] = value(run)
	}
	return out
}
