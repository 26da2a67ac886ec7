package utility

import "math"

// CountDistribution is the distribution of a gene's counts in a cell: negative binomial with mean
// m and variance m + m^2/Dispersion, and, with probability Inflation, 0 instead:
//
//	P(x) = Inflation [x = 0] + (1 - Inflation) NB(x; m, Dispersion)
//
// A Dispersion of +Inf is the Poisson distribution. loss.NegativeBinomial and loss.ZeroInflated
// train these distributions.
type CountDistribution struct{ Dispersion, Inflation float64 }

// LogProbability returns log P(x) of a count x of 0 or more; m must be above 0. It is NaN or
// infinite for invalid parameters.
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

// logBase returns the log-probability without inflation.
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
