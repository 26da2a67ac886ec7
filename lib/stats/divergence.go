// Jensen-Shannon divergence of two samples.

package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// JensenShannon returns the Jensen-Shannon divergence of two samples in nats,
// from histograms with the given number of equal-width bins over the pooled
// range:
//
//	JS = KL(p || m)/2 + KL(q || m)/2,  m = (p + q)/2.
//
// It lies in [0, ln 2]: 0 for equal histograms, which is the null value, and
// ln 2 for disjoint ones; it is symmetric. It is the divergence, not its square
// root, the distance. With few records per bin it is biased upwards. It refuses
// an empty sample, values that are not finite, and fewer than 1 bin.
func JensenShannon(x, y []float64, bins int) (float64, error) {
	if err := errors.Join(checkFinite("JensenShannon", "x", x), checkFinite("JensenShannon", "y", y)); err != nil {
		return 0, err
	}
	if bins < 1 {
		return 0, fmt.Errorf("stats.JensenShannon: bins is %d, want at least 1", bins)
	}
	low, high := min(slices.Min(x), slices.Min(y)), max(slices.Max(x), slices.Max(y))
	if low == high {
		return 0, nil
	}
	if math.IsInf(high-low, 1) {
		return 0, fmt.Errorf("stats.JensenShannon: the range from %v to %v is too wide", low, high)
	}
	p, q := histogram(x, low, high, bins), histogram(y, low, high, bins)
	var js accumulator
	for i := range p {
		m := (p[i] + q[i]) / 2
		js.add(entropyTerm(p[i], m) / 2)
		js.add(entropyTerm(q[i], m) / 2)
	}
	return math.Min(math.Ln2, math.Max(0, js.value())), nil
}

// entropyTerm returns p log(p/m), 0 at p = 0.
func entropyTerm(p, m float64) float64 {
	if p == 0 {
		return 0
	}
	return p * math.Log(p/m)
}

// histogram returns the share of values in each bin. A bin includes its lower edge, the last one
// its upper edge as well. Because rounding in the division can be off by one bin, the value is
// compared with the edges, as in NumPy.
func histogram(x []float64, low, high float64, bins int) []float64 {
	out := make([]float64, bins)
	width := (high - low) / float64(bins)
	edge := func(k int) float64 { return low + float64(float64(k)*width) }
	for _, v := range x {
		k := min(bins-1, int((v-low)/(high-low)*float64(bins)))
		if k > 0 && v < edge(k) {
			k--
		} else if k < bins-1 && v >= edge(k+1) {
			k++
		}
		out[k]++
	}
	for k := range out {
		out[k] /= float64(len(x))
	}
	return out
}
