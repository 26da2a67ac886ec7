package stats

import "math"

// ShareDifference returns a less b, two shares with their Wilson intervals, with Newcombe's
// interval (1998, method 10), which has a width even if all records agree:
//
//	low  = d - sqrt((a - low a)^2 + (high b - b)^2)
//	high = d + sqrt((high a - a)^2 + (b - low b)^2)
//
// It is for independent samples; for positively correlated shares of the same records it is too
// wide. Level, unit and number are a's.
func ShareDifference(a, b Estimate) Estimate {
	d := a.Value - b.Value
	return Estimate{
		Value: d, Low: d - math.Hypot(a.Value-a.Low, b.High-b.Value), High: d + math.Hypot(a.High-a.Value, b.Value-b.Low),
		Level: a.Level, Over: a.Over, N: a.N,
	}
}
