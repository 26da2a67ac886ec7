// The privacy loss of the subsampled Gaussian mechanism on a grid, with bounds of the error.

package privacy

import (
	"errors"
	"math"
)

const (
	// maxPoints bounds the grid; with the arrays of the transform it is 1 GiB.
	maxPoints = 1 << 24
	// minPoints is a grid of negligible cost.
	minPoints = 1 << 14
	// maxPointsPerStep bounds the points of one step, which are evaluated about a hundred times.
	maxPointsPerStep = 1 << 22
	// unit bounds a rounding error, with a margin for several of them.
	unit = 0x1p-50
)

// points are the probabilities of the privacy loss of one kind of step, at k*width for k =
// first, first+1, ...
type points struct {
	first int
	p     []float64
	err   []float64 // bounds of the rounding errors in p
	times int
}

// lossSum describes the sum of the losses of all steps, before the convolution.
type lossSum struct {
	width      float64
	kinds      []points
	shift      float64 // moves the points of the sum so that its mean is exact
	shiftError float64 // bounds the rounding error of shift
}

// lossSum puts the losses of all kinds of steps on a grid of the given width. The probability
// that it cuts off, in any step, is below deltaError/8. The mean of every step is kept, so that
// by Hoeffding's inequality the sum of the points is off by more than EpsilonError with a
// probability below deltaError/6.
func (h History) lossSum(removed bool, width, deltaError float64) (lossSum, error) {
	out := lossSum{width: width}
	share := deltaError / 16 / float64(h.Steps())
	if share < 1e-290 {
		return out, errors.New("delta is too small for float64")
	}
	for _, s := range h {
		if s.Times == 0 {
			continue
		}
		low, high := s.lossRange(share, removed)
		if !((high-low)/width < maxPointsPerStep && max(math.Abs(low), math.Abs(high))/width < 1<<52) {
			return out, tooMany(high-low, width)
		}
		k, shift := s.discretise(low, high, width, removed)
		out.kinds = append(out.kinds, k)
		out.shift += float64(float64(s.Times) * shift)
		out.shiftError += float64(float64(s.Times) * 1e-13 * max(math.Abs(low), math.Abs(high)))
	}
	return out, nil
}

// maxRange is the longest range of the loss of one step.
func (s lossSum) maxRange() (length float64) {
	for _, k := range s.kinds {
		length = max(length, float64(len(k.p))*s.width)
	}
	return length
}

// lossRange is the range of the loss of one step, without a probability of at most share at
// either end.
func (s Step) lossRange(share float64, removed bool) (low, high float64) {
	z := 0.0
	for normal(-z) > share {
		z += 0.25
	}
	low, high = s.loss(-z*s.Noise), s.loss(1+z*s.Noise)
	if !removed {
		low, high = -s.loss(z*s.Noise), -s.loss(-z*s.Noise)
	}
	return low, high
}

// loss is the loss at x when the record is removed: ln((1-q) + q exp((2x-1)/(2 s^2))), computed
// with whichever of exp(t) and exp(-t) is small. When the record is added it is the negative.
func (s Step) loss(x float64) float64 {
	t := (2*x - 1) / (2 * s.Noise * s.Noise)
	if t > 0 || s.Rate == 1 {
		return t + math.Log1p((1-s.Rate)*math.Expm1(-t))
	}
	return math.Log1p(s.Rate * math.Expm1(t))
}

// discretise returns the probabilities of the points, each of the interval of half a width on
// both sides, and the shift that makes the mean exact.
func (s Step) discretise(low, high, width float64, removed bool) (out points, shift float64) {
	first, last := int(math.Floor(low/width+0.5)), int(math.Floor(high/width+0.5))
	out = points{first: first, p: make([]float64, last-first+1), err: make([]float64, last-first+1), times: s.Times}
	var mass, mean compensated
	for i := range out.p {
		y := float64(first+i) * width
		out.p[i], out.err[i] = s.lossBetween(y-width/2, y+width/2, removed)
		mass.add(out.p[i])
		mean.add(float64(out.p[i] * y))
	}
	for i := range out.p {
		out.p[i] /= mass.value()
		out.err[i] /= mass.value()
	}
	return out, s.lossMean(removed) - mean.value()/mass.value()
}

// lossBetween is Pr[a < Y <= b] of one step, with a bound of the error.
//
// When the record is removed, P is the mixture (1-q) N(0, s^2) + q N(1, s^2) and Q is N(0, s^2);
// Y increases with x. When it is added, P and Q are exchanged and Y is the negative.
func (s Step) lossBetween(a, b float64, removed bool) (p, err float64) {
	if !removed {
		return normalBetween(s.point(-b)/s.Noise, s.point(-a)/s.Noise)
	}
	x, y := s.point(a), s.point(b)
	without, errWithout := normalBetween(x/s.Noise, y/s.Noise)
	with, errWith := normalBetween((x-1)/s.Noise, (y-1)/s.Noise)
	return float64((1-s.Rate)*without) + float64(s.Rate*with), float64((1-s.Rate)*errWithout) + float64(s.Rate*errWith)
}

// normalBetween is the normal probability between a and b, computed in the smaller tail.
func normalBetween(a, b float64) (p, err float64) {
	if a+b > 0 {
		a, b = -b, -a
	}
	tail := normal(b)
	if tail == 0 {
		return 0, 0
	}
	return tail - normal(a), float64(unit * (1 + min(a*a, b*b)) * tail)
}

// lossMean is E[Y] of one step by the trapezoidal rule. The rule is exact to rounding here: the
// integrand is smooth on the scale of the noise and has normal tails.
func (s Step) lossMean(removed bool) float64 {
	const tail, perNoise = 14, 64
	width := s.Noise / perNoise
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) / s.Noise }
	var sum compensated
	for x := -tail * s.Noise; x < 1+float64(tail*s.Noise); x += width {
		if y := s.loss(x); removed {
			sum.add(float64(y * (float64((1-s.Rate)*density(x/s.Noise)) + float64(s.Rate*density((x-1)/s.Noise)))))
		} else {
			sum.add(-float64(y * density(x/s.Noise)))
		}
	}
	return sum.value() * width
}

// point is the x at which the loss with the record removed is y; minus infinity below its
// infimum ln(1-q).
func (s Step) point(y float64) float64 {
	// ln(exp(y) - (1-q)) = y + ln(1 - (1-q) exp(-y))
	inner := -math.Expm1(math.Log1p(-s.Rate) - y)
	if !(inner > 0) {
		return math.Inf(-1)
	}
	return float64(s.Noise*s.Noise*(y+math.Log(inner)-math.Log(s.Rate))) + 0.5
}

func normal(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// compensated is a sum whose rounding error does not grow with the number of terms (Neumaier).
type compensated struct{ sum, lost float64 }

func (c *compensated) add(v float64) {
	t := c.sum + v
	if math.Abs(c.sum) >= math.Abs(v) {
		c.lost += (c.sum - t) + v
	} else {
		c.lost += (v - t) + c.sum
	}
	c.sum = t
}

func (c *compensated) value() float64 { return c.sum + c.lost }
