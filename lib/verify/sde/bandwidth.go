package sde

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Bandwidth says how the sigma of the Gaussian kernel is chosen. The zero value is the paper's
// square root of the number of columns (section 4.1).
type Bandwidth struct {
	median bool
	sigma  float64
}

// SqrtDim is sigma = sqrt(number of columns), the paper's rule.
func SqrtDim() Bandwidth { return Bandwidth{} }

// MedianDistance is sigma = median Euclidean distance within the reference sets; pairs of both sets
// are pooled. It does not depend on the target, so that all targets have the same kernel.
func MedianDistance() Bandwidth { return Bandwidth{median: true} }

// Fixed is a sigma of the caller's choice, such as the 128 that the paper uses on the logits of ten
// classes (appendix D). 0 is the default rule.
func Fixed(sigma float64) Bandwidth { return Bandwidth{sigma: sigma} }

// LogitSigma is the paper's sigma for the logits of ten classes (appendix D).
const LogitSigma = 128

// ParseBandwidth reads "sqrt-dim", "median" or a positive number.
func ParseBandwidth(s string) (Bandwidth, error) {
	switch s {
	case "sqrt-dim":
		return SqrtDim(), nil
	case "median":
		return MedianDistance(), nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !usable(v) {
		return Bandwidth{}, fmt.Errorf("bandwidth %q: expected sqrt-dim, median or a positive number", s)
	}
	return Fixed(v), nil
}

// String returns what ParseBandwidth reads.
func (b Bandwidth) String() string {
	switch {
	case b.median:
		return "median"
	case b.sigma != 0:
		return strconv.FormatFloat(b.sigma, 'g', -1, 64)
	}
	return "sqrt-dim"
}

// usable reports whether sigma and 1/(2 sigma^2) are positive numbers.
func usable(sigma float64) bool {
	return sigma > 1e-150 && sigma < 1e150
}

// Resolve returns sigma for the given sets, which must have the same columns. It refuses a sigma
// that is not positive, such as the median of sets in which most rows are equal.
func (b Bandwidth) Resolve(sets ...*Matrix) (float64, error) {
	sigma := b.sigma
	switch {
	case len(sets) == 0:
		return 0, fmt.Errorf("sde: no activations to choose a bandwidth for")
	case b.median:
		sigma = medianDistance(sets)
	case b.sigma == 0:
		sigma = math.Sqrt(float64(sets[0].Cols))
	}
	if !usable(sigma) {
		return 0, fmt.Errorf("sde: bandwidth %s is %v on these activations, want a positive number", b, sigma)
	}
	return sigma, nil
}

func medianDistance(sets []*Matrix) float64 {
	var all []float64
	for _, m := range sets {
		d := newCloud(m).distances(0)
		for i := range d.Rows {
			all = append(all, d.Row(i)[:i]...)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	h := len(all) / 2
	if len(all)%2 == 1 {
		return math.Sqrt(all[h])
	}
	return (math.Sqrt(all[h-1]) + math.Sqrt(all[h])) / 2
}
