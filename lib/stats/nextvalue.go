package stats

import "math"

// NextValue returns the interval in which one more value of a normal sample lies, where something is
// known of its variance before:
//
//	mean -+ t_f s sqrt(1 + 1/n),   s^2 = (weight prior + sum (x_i - mean)^2) / f,   f = weight + n - 1
//
// prior is the variance that is expected, and weight the number of degrees of freedom that this
// expectation is worth. This is the moderated variance of Smyth (2004, equation 3) in Student's
// prediction interval; with weight 0 it is Student's, which one value does not give.
//
// There is no error result. Where nothing is known (f is 0), a value is not finite, or prior, weight or level is
// out of range, both ends are NaN.
//
// Smyth, G. K. (2004). Linear models and empirical Bayes methods for assessing differential expression in
// microarray experiments. Statistical Applications in Genetics and Molecular Biology 3(1).
func NextValue(x []float64, prior, weight, level float64) (low, high float64) {
	n := float64(len(x))
	freedom := weight + n - 1
	known := n > 0 && weight >= 0 && prior >= 0 && freedom > 0 && !math.IsInf(prior+weight, 0)
	if !known || checkFinite("NextValue", "x", x) != nil || checkLevel("NextValue", level) != nil {
		return math.NaN(), math.NaN()
	}
	mean, squares := meanOf(x), 0.0
	for _, v := range x {
		squares += (v - mean) * (v - mean)
	}
	s := math.Sqrt((weight*prior + squares) / freedom)
	half := studentQuantile(0.5+level/2, freedom) * s * math.Sqrt(1+1/n)
	return mean - half, mean + half
}
