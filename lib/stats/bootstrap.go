// Bootstrap samples, and percentile and BCa intervals.

package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lethe-ml/lethe/lib/progress"
)

// Bootstrap returns reps values of stat, each on n indices drawn from 0 ... n-1 with replacement.
// stat must not keep or change the slice, which is reused. It returns nil when n or reps is below
// 1 or when rng or stat is nil.
func Bootstrap(n int, reps int, rng *rand.Rand, stat func(idx []int) float64) []float64 {
	if n < 1 || reps < 1 || rng == nil || stat == nil {
		return nil
	}
	idx, out := make([]int, n), make([]float64, reps)
	task := progress.Begin("bootstrap", reps)
	defer task.Done()
	for r := range out {
		for i := range idx {
			idx[i] = rng.IntN(n)
		}
		out[r] = stat(idx)
		task.Add(1)
	}
	return out
}

// PercentileInterval returns the interval between the (1-level)/2 and the
// (1+level)/2 quantiles of bootstrap samples: Efron's percentile interval. It
// refuses values that are not finite, a level outside (0, 1), and fewer samples than it needs (MinResamples).
func PercentileInterval(samples []float64, level float64) (low, high float64, err error) {
	if err := checkFinite("PercentileInterval", "samples", samples); err != nil {
		return 0, 0, err
	}
	if err := checkLevel("PercentileInterval", level); err != nil {
		return 0, 0, err
	}
	if need := MinResamples(level); len(samples) < need {
		return 0, 0, fmt.Errorf("stats.PercentileInterval: samples has %d values, an interval of level %v needs at least %d", len(samples), level, need)
	}
	s := slices.Sorted(slices.Values(samples))
	return sortedQuantile(s, (1-level)/2), sortedQuantile(s, (1+level)/2), nil
}

// BCa returns stat on the n records, with Efron's (1987) interval, corrected for bias and
// acceleration:
//
//	z0 = Phi^-1(share of resamples below the value, ties one half)
//	a  = sum d_i^3 / (6 (sum d_i^2)^1.5),  d_i = mean jackknife value - value without i
//	q  = Phi(z0 + (z0 + z)/(1 - a (z0 + z)))  at z = -+ Phi^-1((1+level)/2)
//
// stat is called with n indices, and for the jackknife with n-1; it must not keep or change them.
// Over is "records"; the caller sets null and direction. A stat with the same value on every
// resample gets an interval without width. It refuses n < 2, a nil rng or stat, a level outside
// (0, 1), fewer resamples than the level needs (MinResamples), values of stat that are not finite, resamples that all lie on one side of the value, and
// skewness for which 1 - a (z0 + z) is not above 0.
func BCa(n, reps int, rng *rand.Rand, level float64, stat func(idx []int) float64) (Estimate, error) {
	if n < 2 || stat == nil {
		return Estimate{}, fmt.Errorf("stats.BCa: n is %d (want at least 2), stat is nil: %t", n, stat == nil)
	}
	if err := checkLevel("BCa", level); err != nil {
		return Estimate{}, err
	}
	if err := checkResampling("BCa", reps, level, rng); err != nil {
		return Estimate{}, err
	}
	value := stat(indices(n))
	samples := Bootstrap(n, reps, rng, stat)
	if err := checkFinite("BCa", "value on resample", samples); err != nil {
		return Estimate{}, err
	}
	jack := jackknife(n, stat)
	if err := checkFinite("BCa", "jackknife value", append(jack, value)); err != nil {
		return Estimate{}, err
	}
	low, high, err := bcaInterval(samples, jack, value, level)
	if err != nil {
		return Estimate{}, err
	}
	return Estimate{Value: value, Low: low, High: high, Level: level, Over: "records", N: n}, nil
}

// indices returns 0 ... n-1.
func indices(n int) []int {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	return idx
}

// jackknife returns stat without each record in turn.
func jackknife(n int, stat func(idx []int) float64) []float64 {
	idx, out := make([]int, n-1), make([]float64, n)
	task := progress.Begin("jackknife", n)
	defer task.Done()
	for leave := range out {
		for i := range idx {
			idx[i] = i
			if i >= leave {
				idx[i]++
			}
		}
		out[leave] = stat(idx)
		task.Add(1)
	}
	return out
}

// bcaInterval returns the corrected quantiles of the samples.
func bcaInterval(samples, jack []float64, value, level float64) (low, high float64, err error) {
	s := slices.Sorted(slices.Values(samples))
	if s[0] == s[len(s)-1] {
		return s[0], s[0], nil
	}
	below := 0.0
	for _, v := range s {
		switch {
		case v < value:
			below++
		case v == value:
			below += 0.5
		}
	}
	z0, a := normalQuantile(below/float64(len(s))), acceleration(jack)
	if math.IsInf(z0, 0) {
		return 0, 0, fmt.Errorf("stats.BCa: all %d resamples lie on one side of the value %v", len(s), value)
	}
	at := func(z float64) float64 {
		return sortedQuantile(s, normalCDF(z0+(z0+z)/(1-float64(a*(z0+z)))))
	}
	z := normalQuantile((1 + level) / 2)
	if !(1-float64(a*(z0-z)) > 0 && 1-float64(a*(z0+z)) > 0) {
		return 0, 0, fmt.Errorf("stats.BCa: too skewed for a level of %v: the acceleration is %.3g, the bias %.3g standard errors", level, a, z0)
	}
	return at(-z), at(z), nil
}

// acceleration returns BCa's a, and 0 for jackknife values that are all equal.
func acceleration(jack []float64) float64 {
	m := meanOf(jack)
	var cubes accumulator
	for _, v := range jack {
		d := m - v
		cubes.add(d * d * d)
	}
	squares := squaresAbout(jack, m)
	if squares == 0 {
		return 0
	}
	return cubes.value() / (6 * math.Pow(squares, 1.5))
}
