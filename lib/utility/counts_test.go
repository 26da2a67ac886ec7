package utility

import (
	"math"
	"testing"
)

// SciPy 1.17.1, nbinom.logpmf(x, t, t/(t+m)) and poisson.logpmf(x, m).
func TestCountDistributionsAreSciPys(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		l       CountDistribution
		x, m, p float64
	}{
		{CountDistribution{2, 0}, 0, 3.5, -2.0232018233569597}, {CountDistribution{inf, 0}, 0, 3.5, -3.5},
		{CountDistribution{2, 0}, 7, 3.5, -3.1076561478785245}, {CountDistribution{inf, 0}, 7, 3.5, -3.2558205815978383},
		{CountDistribution{0.7, 0}, 220, 200, -6.609028613947009}, {CountDistribution{inf, 0}, 220, 200, -4.5843706509504045},
		{CountDistribution{40, 0}, 3, 1e-3, -22.442617515987035}, {CountDistribution{inf, 0}, 3, 1e-3, -22.516025306174466},
		{CountDistribution{2, 0.3}, 0, 3.5, -0.9350608345561456}, {CountDistribution{2, 0.3}, 7, 3.5, -3.464331091817257},
	} {
		if got := c.l.LogProbability(c.x, c.m); math.Abs(got-c.p) > 1e-9*math.Abs(c.p)+1e-11 {
			t.Errorf("%+v of %v, mean %v: %.16g, SciPy has %.16g", c.l, c.x, c.m, got, c.p)
		}
	}
}

// Probabilities sum to one, mean and variance are those of the distribution.
func TestCountDistributionsSumToOne(t *testing.T) {
	for _, l := range []CountDistribution{{Dispersion: 2}, {Dispersion: 0.5, Inflation: 0.3}, {Dispersion: math.Inf(1)}} {
		m, sum, mean, square := 4.0, 0.0, 0.0, 0.0
		for x := range 2000 {
			p := math.Exp(l.LogProbability(float64(x), m))
			sum, mean, square = sum+p, mean+p*float64(x), square+p*float64(x*x)
		}
		keep := 1 - l.Inflation
		variance := keep*(m+m*m/l.Dispersion+m*m) - keep*keep*m*m
		if math.Abs(sum-1) > 1e-9 || math.Abs(mean-keep*m) > 1e-8 || math.Abs(square-mean*mean-variance) > 1e-6 {
			t.Errorf("%+v: sum %v, mean %v, variance %v, want %v", l, sum, mean, square-mean*mean, variance)
		}
	}
}
