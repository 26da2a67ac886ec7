package ruler

// maximum returns the largest value of x in four interleaved scans. Similarities
// of finite unit vectors are never NaN.
func maximum(x []float32) float32 {
	m0 := x[0]
	m1, m2, m3 := m0, m0, m0
	for len(x) >= 4 {
		if x[0] > m0 {
			m0 = x[0]
		}
		if x[1] > m1 {
			m1 = x[1]
		}
		if x[2] > m2 {
			m2 = x[2]
		}
		if x[3] > m3 {
			m3 = x[3]
		}
		x = x[4:]
	}
	for _, v := range x {
		m0 = max(m0, v)
	}
	return max(m0, m1, m2, m3)
}

// raiseAll lifts every element of tops to that of x.
func raiseAll(tops, x []float32) {
	x = x[:len(tops)]
	for k, v := range x {
		if v > tops[k] {
			tops[k] = v
		}
	}
}
