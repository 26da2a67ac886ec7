package kernels

import "math"

// fma32 is a b + c rounded once to float32. The product of two float32 is exact in float64.
func fma32(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c)
	if s := p + d; roundsSafely(s) {
		return float32(s)
	}
	return sumToOdd(p, d)
}

// roundsSafely tells whether a sum that was rounded to s may be rounded again to float32: s is no
// midpoint between two of them. All midpoints are float64, so that the sum itself lies on the
// side of each where s lies. Below the normal numbers the midpoints are others, and it says no.
func roundsSafely(s float64) bool {
	const normal = (1023 - 126) << 52
	bits := math.Float64bits(s)
	return bits&(1<<29-1) != 1<<28 && bits&(1<<63-1) >= normal
}

// sumToOdd is p + d rounded once to float32: the sum is rounded to odd first (Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums", 2008): where the sum is
// not exact, its last bit is made 1, which keeps it off every midpoint of float32.
func sumToOdd(p, d float64) float32 {
	s := p + d
	t := s - p
	e := (p - (s - t)) + (d - t) // what s lacks, exactly
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

// fmaRow is sums[i] = fma32(a, b[i], sums[i]) for all i.
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
