package privacy

// Convolution of privacy losses under an exponential tilt.

import (
	"math"
	"math/cmplx"
	"sort"

	"gonum.org/v1/gonum/dsp/fourier"
)

// tilt is the exponential tilt exp(lambda y - logMoment) of a distribution, and the window that
// holds the sum of all losses under it.
type tilt struct {
	lambda    float64
	logMoment float64 // ln E exp(lambda Y) of the sum
	low       float64
	length    float64
	points    int // of the window, a power of two; maxPoints+1 if it would need more
}

// outsideProbability is the tilted probability beyond either end of a window, by Chernoff's
// bound.
const outsideProbability = 1e-13

// logMoment is ln E exp(t Y) of one step, and of the sum.
func (k points) logMoment(t, width float64) float64 {
	step := t * width
	most := max(step*float64(k.first), step*float64(k.first+len(k.p)-1))
	sum := 0.0
	for i, p := range k.p {
		sum += float64(p * math.Exp(float64(step*float64(k.first+i))-most))
	}
	return most + math.Log(sum)
}

func (s lossSum) logMoment(t float64) float64 {
	out := 0.0
	for _, k := range s.kinds {
		out += float64(float64(k.times) * k.logMoment(t, s.width))
	}
	return out
}

// lambda minimises the epsilon with exp(logMoment - lambda epsilon) = delta. That epsilon bounds
// the true one from above, is near to it, and is the mean of the tilted distribution. Every
// lambda gives valid bounds; this one gives narrow ones. Values beyond a few per width are not
// used, because they no longer distinguish points.
func (s lossSum) lambda(delta float64) float64 {
	bound := func(lambda float64) float64 { return (s.logMoment(lambda) - math.Log(delta)) / lambda }
	coarse := argminGeometric(bound, 4/s.width, 0.5, 40)
	return argminGeometric(bound, coarse*math.Pow(2, 0.75), math.Pow(2, -0.25), 6)
}

// window contains the sum under the tilted distribution, except for outsideProbability at either
// end.
func (s lossSum) window(lambda float64) tilt {
	out := tilt{lambda: lambda, logMoment: s.logMoment(lambda), low: math.Inf(-1)}
	high, spread := math.Inf(1), s.deviation(lambda)
	for j := -14; j <= 5; j++ {
		theta := math.Ldexp(8, j) / spread
		high = min(high, (s.logMoment(lambda+theta)-out.logMoment-math.Log(outsideProbability))/theta)
		out.low = max(out.low, (out.logMoment-s.logMoment(lambda-theta)+math.Log(outsideProbability))/theta)
	}
	out.length = high - out.low + 4*s.width
	out.points = maxPoints + 1
	if n := out.length / s.width; n <= maxPoints {
		out.points = 1 << int(math.Ceil(math.Log2(n)))
	}
	return out
}

// argminGeometric is the x with the smallest f, among from and its products with powers of
// ratio.
func argminGeometric(f func(float64) float64, from, ratio float64, powers int) float64 {
	best, at := math.Inf(1), from
	for range powers + 1 {
		if v := f(from); v < best {
			best, at = v, from
		}
		from *= ratio
	}
	return at
}

// deviation is the standard deviation of the tilted sum, at least a width.
func (s lossSum) deviation(lambda float64) float64 {
	variance := 0.0
	for _, k := range s.kinds {
		m := k.logMoment(lambda, s.width)
		mean, square := 0.0, 0.0
		for i, p := range k.p {
			y := float64(k.first+i) * s.width
			p *= math.Exp(float64(lambda*y) - m)
			mean += float64(p * y)
			square += float64(p * y * y)
		}
		variance += float64(float64(k.times) * max(0, square-float64(mean*mean)))
	}
	return max(s.width, math.Sqrt(variance))
}

// composed is the tilted distribution of the sum of all losses: point i is the loss (first + i)
// width + shift. With sums over the points j = i, i+1, ... and their losses y,
//
//	tail(i)   = sum p(j) exp(-(lambda+1) (y(j) - y(i)))
//	excess(i) = sum p(j) exp(-lambda (y(j) - y(i))) (1 - exp(-(y(j) - y(i))))
//
// and for an epsilon between y(i-1) and y(i)
//
//	delta(epsilon) = exp(logMoment - lambda y(i)) (excess(i) + (1 - exp(epsilon - y(i))) tail(i))
type composed struct {
	tilt
	width, shift float64
	first        int
	excess, tail []float64 // one more than the number of points
	absolute     float64   // bounds the error of excess, from the transform and the window
	relative     float64   // bounds the relative error of everything else
}

// compose convolves the losses of all steps on a circle of t.points points. Mass beyond the
// window wraps around.
func (s lossSum) compose(t tilt) composed {
	n := t.points
	fft := fourier.NewFFT(n)
	transform := float64(unit * math.Log2(float64(n))) // bounds the error of a transform of probabilities
	total, most := make([]complex128, n/2+1), make([]float64, n/2+1)
	for j := range total {
		total[j], most[j] = 1, 1
	}
	out := composed{tilt: t, width: s.width, shift: s.shift, first: int(math.Floor(t.low / s.width))}
	out.relative = unit * (float64(n) + float64(t.lambda*(math.Abs(t.low)+t.length)))
	for _, k := range s.kinds {
		around, err := k.around(n, t.lambda, s.width)
		times := float64(k.times)
		for j, c := range fft.Coefficients(nil, around) {
			total[j] = product(total[j], cmplx.Pow(c, complex(times, 0)))
			most[j] *= math.Pow(cmplx.Abs(c)+err+transform, times) * (1 + float64(unit*times))
		}
		out.relative += float64(unit * times * (1 + math.Abs(k.logMoment(t.lambda, s.width))))
	}
	missed, all := 0.0, 0.0
	for j, c := range total {
		missed += most[j] - cmplx.Abs(c)
		all += cmplx.Abs(c)
	}
	point := 2 * (missed + float64(transform*all)) / float64(n) // bounds the error of a point
	out.absolute = 2*outsideProbability + float64(point*min(float64(n), -1/math.Expm1(-t.lambda*s.width)))
	out.accumulate(fft.Sequence(nil, total))
	return out
}

// accumulate forms tail and excess, which have positive terms only, from above.
func (c *composed) accumulate(circle []float64) {
	n := len(circle)
	c.excess, c.tail = make([]float64, n+1), make([]float64, n+1)
	once, tilted := -math.Expm1(-c.width), math.Exp(-c.lambda*c.width)
	for i := n - 1; i >= 0; i-- {
		p := max(0, circle[modulo(c.first+i, n)]/float64(n))
		c.tail[i] = p + float64(tilted*(1-once)*c.tail[i+1])
		c.excess[i] = float64(tilted * (float64(once*c.tail[i+1]) + c.excess[i+1]))
	}
}

// around is the tilted distribution of one step on a circle of n points, with a bound of the sum
// of its errors.
func (k points) around(n int, lambda, width float64) (p []float64, err float64) {
	p = make([]float64, n)
	m := k.logMoment(lambda, width)
	for i, v := range k.p {
		y := float64(float64(k.first+i) * width)
		factor := math.Exp(float64(lambda*y) - m)
		p[modulo(k.first+i, n)] += float64(v * factor)
		err += float64(factor * (k.err[i] + float64(unit*(1+math.Abs(lambda*y)+math.Abs(m))*v)))
	}
	return p, err
}

func modulo(k, n int) int { return (k%n + n) % n }

// product is x y with every partial product rounded, so that it is the same on every machine.
func product(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(float64(a*c)-float64(b*d), float64(a*d)+float64(b*c))
}

// epsilon is the smallest epsilon >= 0 with delta(epsilon) <= delta. delta(epsilon) is increased
// (side 1) or decreased (side -1) by the bound of its error, or used as it is (side 0). NaN if
// epsilon is outside the window.
func (c composed) epsilon(delta, side float64) float64 {
	n := len(c.tail) - 1
	zero := sort.Search(n, func(i int) bool { return c.loss(i) > 0 })
	i := n // the last point at which delta is too small
	for i >= zero && float64(c.factor(i)*(float64(c.excess[i]*(1+float64(side*c.relative)))+float64(side*c.absolute))) <= delta {
		i--
	}
	switch {
	case i == n, i < 0:
		return math.NaN()
	case i < zero && c.loss(i) > 0:
		return math.NaN()
	}
	i++ // epsilon lies between this point and the one before
	wanted := (delta - float64(side*c.factor(i-1)*c.absolute)) / (1 + float64(side*c.relative))
	below := (wanted/c.factor(i) - c.excess[i]) / c.tail[i] // 1 - exp(epsilon - loss)
	if !(below > 0) {
		return max(0, c.loss(i))
	}
	return max(0, c.loss(i-1), c.loss(i)+math.Log1p(-min(1, below)))
}

// loss is the loss of a point.
func (c composed) loss(i int) float64 { return float64(float64(c.first+i)*c.width) + c.shift }

// factor undoes the tilt at a point.
func (c composed) factor(i int) float64 {
	return math.Exp(c.logMoment - float64(c.lambda*float64(float64(c.first+i)*c.width)))
}
