package kernels

import "math"

// fma32 returns a b + c rounded once to float32. The product of two float32 is exact in
// float64.
func fma32(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c)
	if s := p + d; roundsSafely(s) {
		return float32(s)
	}
	return sumToOdd(p, d)
}

// roundsSafely reports whether a sum that was rounded to the float64 s may be rounded again to
// float32: s is not a midpoint between two float32. All midpoints are float64, so the exact
// sum lies on the same side of each as s. It is false for subnormal results, whose midpoints
// differ.
func roundsSafely(s float64) bool {
	const normal = (1023 - 126) << 52
	bits := math.Float64bits(s)
	return bits&(1<<29-1) != 1<<28 && bits&(1<<63-1) >= normal
}

// sumToOdd returns p + d rounded once to float32. The float64 sum is rounded to odd first
// (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008): if it is not
// exact, its last bit is set to 1, so that it is no midpoint of float32.
func sumToOdd(p, d float64) float32 {
	s := p + d
	t := s - p
	e := (p - (s - t)) + (d - t) // the exact rounding error of s
	if e == 0 || e != e {        // exact, or not finite
		return float32(s)
	}
	bits := math.Float64bits(s)
	if bits&1 == 0 {
		if (e > 0) == (s > 0) { // the true sum lies beyond s
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}

// fmaRow sets sums[i] = fma32(a, b[i], sums[i]) for all i.
func fmaRow(sums []float32, a float32, b []float32) {
	b = b[:len(sums)]
	x := float64(a)
	for i, c := range sums {
		s := x*float64(b[i]) + float64(c)
		if roundsSafely(s) {
			sums[i] = float32(s)
		} else {
			sums[i] = sumToOdd(x*float64(b[i]), float64(c))
		}
	}
}
