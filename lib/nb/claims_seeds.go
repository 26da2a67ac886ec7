package nb

import (
	"fmt"

	"github.com/lethe-ml/lethe/lib/stats"
)

// What one run shows may be that run's luck. The claims below are about the mean
// of several runs, each with seeds of its own, and hold where its whole 95 %
// interval lies on the claimed side: Student's, over the runs. Fewer than two
// runs have no interval, and the claim fails.

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

// Runs are the values of so many runs, the first of which is number 0.
func Runs(runs int, value func(run int) float64) []float64 {
	out := make([]float64, runs)
	for run := range out {
		out[run] = value(run)
	}
	return out
}
