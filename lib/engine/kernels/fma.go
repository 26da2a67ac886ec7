package kernels

import "math"

// fma32 is a b + c rounded once to float32.
//
// The product of two float32 is exact in float64. Their sum with c is not; rounding it
// to float64 and then to float32 would round twice. It is therefore rounded to odd (Boldo
// and Melquiond, "Emulation of FMA and correctly rounded sums", 2008): where the sum is
// not exact, its last bit is made 1, which keeps it off every midpoint of float32.
func fma32(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c)
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
