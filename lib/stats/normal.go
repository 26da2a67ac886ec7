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

// studentQuantile returns the quantile of Student's t.
func studentQuantile(p, df float64) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// normalCDF returns P(Z <= z) for a standard normal Z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
