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
	return claimOverRuns(statement, runs, above(bound))
}

// MeanBelow claims that the mean of the runs is below bound.
func MeanBelow(statement string, bound float64, runs ...float64) Claim {
	return claimOverRuns(statement, runs, below(bound))
}

// MeanWithin claims that the mean of the runs lies between low and high.
func MeanWithin(statement string, low, high float64, runs ...float64) Claim {
	return claimOverRuns(statement, runs, within(low, high))
}

// The claims below are about a value that has an interval of its own, such as a table's, which may
// count something else than runs: they hold if the whole interval lies on the claimed side.

// EstimateAbove claims that a value is above bound.
func EstimateAbove(statement string, bound float64, e stats.Estimate) Claim {
	return claimOnEstimate(statement, e, above(bound))
}

// EstimateBelow claims that a value is below bound.
func EstimateBelow(statement string, bound float64, e stats.Estimate) Claim {
	return claimOnEstimate(statement, e, below(bound))
}

// EstimateWithin claims that a value lies between low and high.
func EstimateWithin(statement string, low, high float64, e stats.Estimate) Claim {
	return claimOnEstimate(statement, e, within(low, high))
}

// side is where an interval is claimed to lie, and its words.
type side struct {
	words string
	holds func(stats.Estimate) bool
}

func above(bound float64) side {
	return side{"above " + formatNumber(bound), func(e stats.Estimate) bool { return e.Low > bound }}
}

func below(bound float64) side {
	return side{"below " + formatNumber(bound), func(e stats.Estimate) bool { return e.High < bound }}
}

func within(low, high float64) side {
	return side{fmt.Sprintf("inside %s to %s", formatNumber(low), formatNumber(high)),
		func(e stats.Estimate) bool { return low <= e.Low && e.High <= high }}
}

func claimOverRuns(statement string, runs []float64, s side) Claim {
	if len(runs) < 2 {
		return Claim{Statement: statement, Evidence: fmt.Sprintf("%d runs have no interval", len(runs))}
	}
	return s.claim(statement, fmt.Sprintf("mean of %d runs ", len(runs)), stats.MeanInterval(runs, 0.95, "runs"), "")
}

func claimOnEstimate(statement string, e stats.Estimate, s side) Claim {
	if !e.HasInterval() {
		return Claim{Statement: statement, Evidence: formatNumber(e.Value) + " has no interval"}
	}
	return s.claim(statement, "", e, fmt.Sprintf(" over %d %s", e.N, e.Over))
}

// claim is the claim about an estimate; before and after stand around its numbers.
func (s side) claim(statement, before string, e stats.Estimate, after string) Claim {
	c := Claim{Statement: statement, Holds: e.HasInterval() && s.holds(e)}
	words := s.words
	if !c.Holds {
		words = "expected " + words
	}
	c.Evidence = fmt.Sprintf("%s%s [%s, %s]%s, %s", before, formatNumber(e.Value), formatNumber(e.Low), formatNumber(e.High), after, words)
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
