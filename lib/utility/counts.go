package utility

import "math"

// CountDistribution is the law of a gene's counts in a cell, a negative binomial law of the
// mean m with the variance m + m^2/Dispersion, and, with probability Inflation, 0
// besides:
//
//	P(x) = Inflation [x = 0] + (1 - Inflation) NB(x; m, Dispersion)
//
// A Dispersion of +Inf is Poisson's law. These are the laws that loss.NegativeBinomial
// and loss.ZeroInflated train, one count at a time.
type CountDistribution struct{ Dispersion, Inflation float64 }

// LogProbability is log P(x) of a count of 0 or more, m being above 0; it is NaN or
// infinite where the law makes no sense.
func (l CountDistribution) LogProbability(x, m float64) float64 {
	p := l.logBase(x, m)
	switch {
	case l.Inflation == 0:
		return p
	case x == 0:
		return math.Log(l.Inflation + (1-l.Inflation)*math.Exp(p))
	}
	return math.Log1p(-l.Inflation) + p
}

// logBase is the law without inflation.
func (l CountDistribution) logBase(x, m float64) float64 {
	if math.IsInf(l.Dispersion, 1) {
		return x*math.Log(m) - m - logGamma(x+1)
	}
	t := l.Dispersion
	return logGamma(x+t) - logGamma(t) - logGamma(x+1) - t*math.Log1p(m/t) + x*math.Log(m/(t+m))
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
