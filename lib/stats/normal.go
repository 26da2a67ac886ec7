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

// studentQuantile returns the quantile of Student's t. From many degrees of freedom it is studentExpansion: gonum's returns
// 82 in place of 5.3 for p = 1 - 5e-8 and 100,000 degrees.
func studentQuantile(p, df float64) float64 {
	if df >= 10_000 {
		return studentExpansion(p, df)
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// studentExpansion is Abramowitz and Stegun's 26.7.5 for a quantile of Student's t. Of 60 degrees of freedom it is 6e-8 too
// small, relatively, at p = 0.975, and 1.5e-4 at 1 - 5e-10; of 1,000 it is right to 5e-7 there.
func studentExpansion(p, df float64) float64 {
	z := normalQuantile(p)
	z3 := z * z * z
	z5, z7 := z3*z*z, z3*z3*z
	return z + (z3+z)/(4*df) + (5*z5+16*z3+3*z)/(96*df*df) + (3*z7+19*z5+17*z3-15*z)/(384*df*df*df)
}

// normalCDF returns P(Z <= z) for a standard normal Z.
func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
