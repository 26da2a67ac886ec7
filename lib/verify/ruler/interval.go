package ruler

import (
	"math"
	"math/rand/v2"

	"github.com/lethe-ml/lethe/lib/stats"
)

// overRecords returns the mean of one value per forget record with its t interval, bounded to the
// range [low, high] of the metric. One record says nothing about the spread, so that its interval
// is the whole range.
func (o Options) overRecords(x []float64, low, high float64) *stats.Estimate {
	e := pointEstimate(mean(x), len(x))
	switch {
	case o.PointOnly:
	case len(x) == 1:
		e.Level, e.Low, e.High = o.level(), low, high
	default:
		t := stats.MeanInterval(x, o.level(), e.Over)
		e.Level, e.Low, e.High = o.level(), max(t.Low, low), min(t.High, high)
	}
	return e
}

// gap returns mean(forget) - baseline(retain) with a percentile bootstrap interval over both
// samples, drawn independently.
func (o Options) gap(forget, retain []float64, baseline func([]float64) float64) *stats.Estimate {
	e := pointEstimate(mean(forget)-baseline(retain), len(forget))
	if o.PointOnly {
		return e
	}
	e.Level = o.level()
	if len(forget) == 1 {
		e.Low, e.High = -2, 2
		return e
	}
	rng := rand.New(rand.NewPCG(o.BootstrapSeed, 0x2)) // stream 2: the bootstrap of M2
	means := resample(forget, o.reps(), rng, mean)
	bases := resample(retain, o.reps(), rng, baseline)
	if low, high, err := stats.PercentileInterval(difference(means, bases), e.Level); err == nil {
		e.Low, e.High = low, high
	}
	return e
}

func resample(x []float64, reps int, rng *rand.Rand, stat func([]float64) float64) []float64 {
	drawn := make([]float64, len(x))
	return stats.Bootstrap(len(x), reps, rng, func(idx []int) float64 {
		for k, i := range idx {
			drawn[k] = x[i]
		}
		return stat(drawn)
	})
}

// pointEstimate returns an estimate without an interval.
func pointEstimate(v float64, n int) *stats.Estimate {
	return &stats.Estimate{Value: v, Low: math.NaN(), High: math.NaN(), Over: "records", N: n}
}
