package stats

import (
	"math"
	"slices"
)

// PositiveMean returns the mean of non-negative and often skewed values, such as losses, with an
// interval that is not negative either. over is the unit of x, as in MeanInterval. With m the
// mean, s the standard deviation, g the skewness E(x-m)^3/s^3 and t Student's quantile of n-1
// degrees of freedom,
//
//	low  = m exp(-t s/(m sqrt(n)))
//	high = max( m exp(t s/(m sqrt(n))),  m + s/sqrt(n) h(t) )
//
// This is Student's interval of ln m, with Hall's (1992) upper end for samples that are skewed to
// the right, in which the mean is more often too small than too large:
//
//	h(t) = (sqrt(n)/A) (1 - (1 - 3A/sqrt(n) (t + g/(6 sqrt(n))))^(1/3)),  A = g/3.
//
// Coverage of 95 % intervals over 20 values, PositiveMean and MeanInterval
// (TestPositiveMeanCovers; with 50 values one to four points more):
//
//	gamma, shape 1 or 4            94-95 %   91-94 %
//	log-normal, sigma 0.5          95 %      93 %
//	log-normal, sigma 1            92 %      86 %
//	gamma, shape 1/4               93 %      85 %
//	log-normal, sigma 2            82 %      62 %
//
// If rare values dominate the mean, as in the last line, a sample often lacks them, and no
// interval computed from it has its nominal coverage. The values must be independent: for records
// in clusters of one size, pass the means of the clusters.
//
// Values that are all equal, zeros too, give an interval without width, as in MeanInterval. There
// is no error result: one value, or a level outside (0, 1), gives a mean without an interval; an
// empty x, or a value that is negative or not finite, makes Value NaN as well. With two values and
// a level above 0.999 High may be infinite.
func PositiveMean(x []float64, level float64, over string) Estimate {
	e := Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Level: level, Over: over, N: len(x)}
	if checkFinite("PositiveMean", "x", x) != nil || slices.Min(x) < 0 {
		return e
	}
	scale := Binade(slices.Max(x)) // no square leaves the range of float64
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Ldexp(v, -scale)
	}
	m := meanOf(y)
	e.Value = math.Ldexp(m, scale)
	if len(x) < 2 || checkLevel("PositiveMean", level) != nil {
		return e
	}
	if slices.Min(x) == slices.Max(x) {
		e.Value, e.Low, e.High = x[0], x[0], x[0]
		return e
	}
	n := float64(len(x))
	t, se := studentQuantile(0.5+level/2, n-1), sdOf(y)/math.Sqrt(n)
	factor := math.Exp(t * se / m)
	e.Low, e.High = math.Ldexp(m/factor, scale), math.Ldexp(max(m*factor, m+float64(se*hallUpper(t, skewness(y), n))), scale)
	return e
}

// hallUpper returns h(t), the upper end in standard errors; t without skewness to the right.
func hallUpper(t, skew, n float64) float64 {
	if !(skew > 0) {
		return t
	}
	root, a := math.Sqrt(n), skew/3
	return root / a * (1 - math.Cbrt(1-float64(3*a/root*(t+skew/(6*root)))))
}

// skewness returns the population skewness of the sample; 0 without spread.
func skewness(x []float64) float64 {
	m := meanOf(x)
	sd := math.Sqrt(squaresAbout(x, m) / float64(len(x)))
	if sd == 0 {
		return 0
	}
	var cubes accumulator
	for _, v := range x {
		d := (v - m) / sd
		cubes.add(float64(d * d * d))
	}
	return cubes.value() / float64(len(x))
}
