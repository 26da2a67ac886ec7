package stats

import "math"

// Wilson returns a share p of n trials with Wilson's score interval (1927) at the given level.
// Everything is NaN for n below 1, p outside [0, 1] or a level outside (0, 1).
func Wilson(p float64, n int, level float64) Estimate {
	e := Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Level: level, Over: "records", N: n}
	if n < 1 || !(p >= 0 && p <= 1) || !(level > 0 && level < 1) {
		return e
	}
	e.Value = p
	e.Low, e.High = wilson(p, float64(n), normalQuantile(0.5+level/2))
	return e
}

// wilson returns the interval of a share of nf trials for the quantile z.
func wilson(p, nf, z float64) (low, high float64) {
	denom := 1 + float64(z*z)/nf
	centre := (p + float64(z*z)/(2*nf)) / denom
	half := float64(z / denom * math.Sqrt(p*(1-p)/nf+float64(z*z)/(4*nf*nf)))
	return math.Max(0, math.Min(p, centre-half)), math.Min(1, math.Max(p, centre+half)) // rounding never leaves p out
}
