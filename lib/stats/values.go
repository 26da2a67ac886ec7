package stats

// Values are the values of estimates, without their intervals.
func Values(estimates []Estimate) []float64 {
	out := make([]float64, len(estimates))
	for i, e := range estimates {
		out[i] = e.Value
	}
	return out
}
