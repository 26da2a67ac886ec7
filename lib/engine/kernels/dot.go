package kernels

// Dot returns the sum of a[i] b[i] in float64. It panics if the lengths differ. Products are
// rounded before they are added; product i is added to sum i mod 8 of eight sums s, and
// these are joined as
//
//	((s0 + s4) + (s1 + s5)) + ((s2 + s6) + (s3 + s7)).
//
// Dot(a, b) and Dot(b, a) have the same bits. NaN and infinity propagate as in that sum.
func Dot(a, b []float64) float64 { return dotAt(best, a, b) }

func dotAt(l Level, a, b []float64) float64 {
	checkLengths("Dot", len(a), len(b))
	var s [8]float64
	for len(a) >= len(s) {
		n := min(len(a), atOnce) / len(s) * len(s)
		eightsAt(l, &s, a[:n], b[:n])
		a, b = a[n:], b[n:]
	}
	for i, x := range a {
		s[i] += float64(x * b[i])
	}
	return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]))
}

// eightsScalar adds products to the sums; the length is a multiple of 8.
func eightsScalar(s *[8]float64, a, b []float64) {
	b = b[:len(a)]
	for ; len(a) >= 8; a, b = a[8:], b[8:] {
		s[0] += float64(a[0] * b[0])
		s[1] += float64(a[1] * b[1])
		s[2] += float64(a[2] * b[2])
		s[3] += float64(a[3] * b[3])
		s[4] += float64(a[4] * b[4])
		s[5] += float64(a[5] * b[5])
		s[6] += float64(a[6] * b[6])
		s[7] += float64(a[7] * b[7])
	}
}
