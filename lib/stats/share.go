package stats

// Share returns the share of values for which holds is true, with Wilson's 95 % interval. over is
// the unit of the values: "records", "draws", "trials". Without values everything is NaN, as in
// Wilson.
func Share[T any](values []T, over string, holds func(T) bool) Estimate {
	n := 0
	for _, v := range values {
		if holds(v) {
			n++
		}
	}
	e := Wilson(float64(n)/float64(max(1, len(values))), len(values), 0.95)
	e.Over = over
	return e
}
