package stats

import "math"

// Values are the values of estimates, without their intervals.
func Values(estimates []Estimate) []float64 {
	out := make([]float64, len(estimates))
	for i, e := range estimates {
		out[i] = e.Value
	}
	return out
}

// Binade is the exponent e such that numbers of at most this magnitude, divided by
// 2^e, can be squared and summed in float64 without leaving its range. It is 0 but for
// a magnitude beyond 2^400 or below 2^-400: the digits of ordinary numbers stay as
// they are, as a power of two leaves those of the others.
func Binade(magnitude float64) int {
	const far = 400
	_, e := math.Frexp(magnitude)
	if e > far || e < -far {
		return e
	}
	return 0
}
