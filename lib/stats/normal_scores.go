package stats

import "math"

// NormalScores returns the scores by rank that a normal sample would have,
//
//	Phi^-1((r_i - 1/2) / n)
//
// with the midranks r of the n values (van der Waerden's idea, with Hazen's positions). They depend on nothing but the
// order: no unit, offset or outlier moves them. Equal values have equal scores, and values that are all the same 0.
// Values that are not finite have none: NaN.
func NormalScores(x []float64) []float64 {
	out := midranks(x)
	for i, r := range out {
		if math.IsNaN(r) || math.IsInf(r, 0) {
			out[i] = math.NaN()
			continue
		}
		out[i] = normalQuantile((r - 0.5) / float64(len(x)))
	}
	return out
}
