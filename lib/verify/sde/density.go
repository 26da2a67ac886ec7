package sde

import (
	"math"
	"slices"

	"github.com/lethe-ml/lethe/lib/stats"
)

// nodes is the number of points at which densities are compared. The trapezoidal rule is then exact
// to 1e-6 for the smooth densities here.
const nodes = 2049

// kde is the divergence of two Gaussian kernel densities. Their width is Silverman's (1986) for one
// dimension, (3n/4)^(-1/5) times the sample's standard deviation with divisor n-1, but at least a
// thousandth of the pooled range, so that a sample without spread has a density too.
func (c comparison) kde() float64 {
	low, high := slices.Min(c.all), slices.Max(c.all)
	span := high - low
	if noRange(span, max(math.Abs(low), math.Abs(high))) {
		return 0
	}
	p, q := newDensity(c.target, span), newDensity(c.reference, span)
	return divergenceOf(p.valueAt, q.valueAt, min(p.low(), q.low()), max(p.high(), q.high()))
}

type density struct {
	points []float64 // sorted
	width  float64
}

func newDensity(x []float64, span float64) density {
	sd, _ := stats.SD(x)
	width := sd * math.Pow(0.75*float64(len(x)), -0.2)
	return density{slices.Sorted(slices.Values(x)), max(width, span/1000)}
}

// reach is the number of widths, or standard deviations, beyond which a density counts as zero; it
// is then below 1e-14 of its maximum.
const reach = 8

func (d density) low() float64  { return d.points[0] - float64(reach*d.width) }
func (d density) high() float64 { return d.points[len(d.points)-1] + float64(reach*d.width) }

func (d density) valueAt(x float64) float64 {
	from, _ := slices.BinarySearch(d.points, x-float64(reach*d.width))
	total := 0.0
	for _, p := range d.points[from:] {
		if p > x+float64(reach*d.width) {
			break
		}
		total += normalDensity((x - p) / d.width)
	}
	return total / (d.width * float64(len(d.points)))
}

func normalDensity(z float64) float64 {
	return math.Exp(-float64(z*z)/2) / math.Sqrt(2*math.Pi)
}

// normal is the divergence of the normal distributions with the samples' moments.
func (c comparison) normal() float64 {
	return normalDivergence(fitNormal(c.target), fitNormal(c.reference))
}

// normal is a normal distribution.
type normal struct{ mean, sd float64 }

func fitNormal(x []float64) normal {
	m, _ := stats.Mean(x)
	s, _ := stats.SD(x)
	return normal{m, s}
}

// normalDivergence is the Jensen-Shannon divergence of two normal distributions, which has no
// closed form, by quadrature. A distribution without spread is a point: two points are equal or
// disjoint, and a point is disjoint from a distribution with spread.
func normalDivergence(p, q normal) float64 {
	switch {
	case p == q || noRange(max(math.Abs(p.mean-q.mean), p.sd, q.sd), max(math.Abs(p.mean), math.Abs(q.mean))):
		return 0
	case p.sd == 0 || q.sd == 0:
		return math.Ln2
	}
	return min(math.Ln2, max(0, (relativeEntropy(p, q)+relativeEntropy(q, p))/2))
}

func (p normal) density(x float64) float64 { return normalDensity((x-p.mean)/p.sd) / p.sd }

// relativeEntropy is KL(p || (p+q)/2), over the range of p.
func relativeEntropy(p, q normal) float64 {
	return trapezoid(p.mean-float64(reach*p.sd), p.mean+float64(reach*p.sd), func(x float64) float64 {
		f := p.density(x)
		return relative(f, (f+q.density(x))/2)
	})
}

// divergenceOf is the Jensen-Shannon divergence of two densities that vanish
// outside [low, high].
func divergenceOf(p, q func(float64) float64, low, high float64) float64 {
	v := trapezoid(low, high, func(x float64) float64 {
		f, g := p(x), q(x)
		m := (f + g) / 2
		return (relative(f, m) + relative(g, m)) / 2
	})
	return min(math.Ln2, max(0, v))
}

// trapezoid integrates a function that vanishes at both ends.
func trapezoid(low, high float64, f func(float64) float64) float64 {
	step := (high - low) / (nodes - 1)
	values := make([]float64, nodes)
	for k := range values {
		values[k] = f(low + float64(float64(k)*step))
	}
	return sum(values) * step
}
