package ruler

// maximumPlain returns the largest value of x, which is not empty and holds no
// NaN.
func maximumPlain(x []float32) float32 {
	m := x[0]
	for _, v := range x {
		if v > m {
			m = v
		}
	}
	return m
}

// maximumIntoPlain raises every element of tops to that of x and returns the
// largest value of x, from the one pass over x.
func maximumIntoPlain(tops, x []float32) float32 {
	m := x[0]
	for k, v := range x {
		if v > m {
			m = v
		}
		if v > tops[k] {
			tops[k] = v
		}
	}
	return m
}
