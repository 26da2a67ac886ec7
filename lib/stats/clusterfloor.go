package stats

import "math"

// Clustered returns the floor of a statistic of records in clusters, from that of as many
// independent records: the distance that chance explains grows with the standard error,
//
//	Mean sqrt(D),  P95 sqrt(D) t/z
//
// with the design effect D, at least 1, and the 97.5 % quantiles t of Student and z of the normal
// distribution: D is estimated from few clusters. Neither leaves most, the largest distance there
// is. Where D is unknown the floor is worst, that of as many records as there are clusters. If c is
// nil it is f itself.
func (f Floor) Clustered(c *Clustered, worst Floor, most float64) Floor {
	if c == nil {
		return f
	}
	if c.DesignEffect == 0 {
		return worst
	}
	wider := math.Sqrt(max(1, c.DesignEffect))
	t := studentQuantile(0.975, c.Freedom) / normalQuantile(0.975)
	return Floor{Mean: min(most, f.Mean*wider), P95: min(most, f.P95*wider*t)}
}
