package stats

import "math"

// Values returns the values of estimates, without their intervals.
func Values(estimates []Estimate) []float64 {
	out := make([]float64, len(estimates))
	for i, e := range estimates {
		out[i] = e.Value
	}
	return out
}

// Binade returns the exponent e such that numbers of at most this magnitude, divided by 2^e, can
// be squared and summed in float64 without overflow or underflow. It is 0 unless the magnitude is
// beyond 2^400 or below 2^-400; scaling by a power of two does not change digits.
func Binade(magnitude float64) int {
	const far = 400
	_, e := math.Frexp(magnitude)
	if e > far || e < -far {
		return e
	}
	return 0
}
