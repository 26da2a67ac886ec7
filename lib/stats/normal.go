package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// normalTwoSided returns P(|Z| >= |z|) for a standard normal Z, accurate far
// into the tail.
func normalTwoSided(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// normalQuantile returns the standard normal quantile.
func normalQuantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

// studentTwoSided returns P(|T| >= |t|) for Student's t with df degrees of
// freedom.
func studentTwoSided(t, df float64) float64 {
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.CDF(-math.Abs(t))
}

// studentQuantile returns the quantile of Student's t. From many degrees of freedom it is the expansion of Abramowitz and
// Stegun 26.7.5, there exact to 1e-9: gonum's returns 82 in place of 5.3 for p = 1 - 5e-8 and 100,000 degrees.
func studentQuantile(p, df float64) float64 {
	const many = 10_000
	if df >= many {
		z := normalQuantile(p)
		return z + (z*z*z+z)/(4*df) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*df*df)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// normalCDF returns P(Z <= z) for a standard normal Z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
