package ruler

import (
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/stats"
)

// OverRecords returns the mean of one value per forget record, x in the order of e.Forget, with its
// t interval, bounded to the range [low, high] of the metric. One record says nothing about the
// spread, so that its interval is the whole range. Where records are in groups the interval is over
// groups (stats.ClusterInterval), and a single group has none. The estimate has no null and no
// direction yet.
func (o Options) OverRecords(e Evidence, x []float64, low, high float64) *stats.Estimate {
	m := pointEstimate(mean(x), len(x))
	switch {
	case o.PointOnly:
	case len(x) == 1:
		m.Level, m.Low, m.High = o.level(), low, high
	default:
		t := stats.ClusterInterval(x, e.clusters(e.Forget), o.level(), e.GroupUnit)
		t.Value = m.Value
		*m = t.ClampedTo(low, high)
	}
	return m
}

// gap returns mean(forget) - baseline(retain) with a percentile bootstrap interval over both
// samples, drawn independently: over their records, or over their groups where these hold several.
// Groups of forget records that are also among the retained ones are drawn separately for both,
// which makes the interval too wide rather than too narrow. rows are those of retain.
func (o Options) gap(e Evidence, rows []int, forget, retain []float64, baseline func([]float64) float64) *stats.Estimate {
	m := pointEstimate(mean(forget)-baseline(retain), len(forget))
	if o.PointOnly {
		return m
	}
	m.Level = o.level()
	if len(forget) == 1 {
		m.Low, m.High = -2, 2
		return m
	}
	ours, theirs := e.clusters(e.Forget), e.clusters(rows)
	gaps := o.resampleGap(forget, retain, nil, nil, baseline)
	if !ours.Trivial() || !theirs.Trivial() {
		independent := gaps
		gaps = o.resampleGap(forget, retain, ours, theirs, baseline)
		m.Over, m.N, m.Clustered = e.GroupUnit, ours.Count(len(forget)), clustered(gaps, independent, ours, theirs, len(forget), len(retain))
		if m.Clustered.Smallest < 2 {
			return m
		}
	}
	if low, high, err := stats.PercentileInterval(gaps, m.Level); err == nil {
		m.Low, m.High = low, high
	}
	if o.Wide && m.HasInterval() && m.High > m.Low {
		by := stats.BootstrapStretch(ours.Effective(len(forget)), m.Level)
		*m = stats.Estimate{Value: m.Value, Low: m.Value - by*(m.Value-m.Low), High: m.Value + by*(m.High-m.Value), Level: m.Level, Over: m.Over, N: m.N,
			Clustered: m.Clustered}.ClampedTo(-2, 2)
	}
	return m
}

// resampleGap returns bootstrap values of the gap, over clusters where there are any.
func (o Options) resampleGap(forget, retain []float64, ours, theirs stats.Clusters, baseline func([]float64) float64) []float64 {
	rng := rand.New(rand.NewPCG(o.BootstrapSeed, 0x2)) // stream 2: the bootstrap of M2
	means := resample(forget, ours, o.reps(), rng, mean)
	return difference(means, resample(retain, theirs, o.reps(), rng, baseline))
}

// clustered says what the groups of m forget and n retained records did to bootstrap values.
func clustered(gaps, independent []float64, ours, theirs stats.Clusters, m, n int) *stats.Clustered {
	out := &stats.Clustered{Records: m, Smallest: min(ours.Count(m), theirs.Count(n))}
	with, err1 := stats.SD(gaps)
	without, err2 := stats.SD(independent)
	if err1 == nil && err2 == nil && with > 0 && without > 0 {
		out.DesignEffect = with * with / without / without
	}
	return out
}

func resample(x []float64, of stats.Clusters, reps int, rng *rand.Rand, stat func([]float64) float64) []float64 {
	var drawn []float64
	return stats.ClusterBootstrap(len(x), of, reps, rng, func(idx []int) float64 {
		drawn = drawn[:0]
		for _, i := range idx {
			drawn = append(drawn, x[i])
		}
		return stat(drawn)
	})
}

// pointEstimate returns an estimate without an interval.
func pointEstimate(v float64, n int) *stats.Estimate {
	return &stats.Estimate{Value: v, Low: math.NaN(), High: math.NaN(), Over: "records", N: n}
}
