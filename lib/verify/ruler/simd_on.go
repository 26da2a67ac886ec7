//go:build amd64 && goexperiment.simd

package ruler

import "simd/archsimd"

// dot is dotPlain with AVX2: two registers of four lanes.
func dot(a, b []float64) float64 {
	if !archsimd.X86.AVX2() {
		return dotPlain(a, b)
	}
	b = b[:len(a)]
	var s0, s1 archsimd.Float64x4
	j := 0
	for ; j+lanes <= len(a); j += lanes {
		x, y := (*[lanes]float64)(a[j:]), (*[lanes]float64)(b[j:])
		s0 = s0.Add(load4(x[:4]).Mul(load4(y[:4])))
		s1 = s1.Add(load4(x[4:]).Mul(load4(y[4:])))
	}
	var s [lanes]float64
	s0.Store((*[4]float64)(s[:4]))
	s1.Store((*[4]float64)(s[4:]))
	archsimd.ClearAVXUpperBits()
	return addLanes(&s, a[j:], b[j:])
}

func load4(x []float64) archsimd.Float64x4 { return archsimd.LoadFloat64x4((*[4]float64)(x)) }

// width is the number of values scanned at a time: two registers of eight.
const width = 16

// maximum is maximumPlain with AVX2. A maximum has no rounding, so both builds
// agree to the last bit.
func maximum(x []float32) float32 {
	if len(x) < width || !archsimd.X86.AVX2() {
		return maximumPlain(x)
	}
	m0, m1 := archsimd.LoadFloat32x8Slice(x), archsimd.LoadFloat32x8Slice(x[8:])
	k := width
	for ; k+width <= len(x); k += width {
		m0 = m0.Max(archsimd.LoadFloat32x8Slice(x[k:]))
		m1 = m1.Max(archsimd.LoadFloat32x8Slice(x[k+8:]))
	}
	return largest(m0.Max(m1), x[k:])
}

// maximumInto is maximumIntoPlain with AVX2.
func maximumInto(tops, x []float32) float32 {
	if len(x) < width || !archsimd.X86.AVX2() {
		return maximumIntoPlain(tops, x)
	}
	m0 := archsimd.LoadFloat32x8Slice(x)
	m1 := m0
	k := 0
	for ; k+width <= len(x); k += width {
		v0, v1 := archsimd.LoadFloat32x8Slice(x[k:]), archsimd.LoadFloat32x8Slice(x[k+8:])
		m0, m1 = m0.Max(v0), m1.Max(v1)
		archsimd.LoadFloat32x8Slice(tops[k:]).Max(v0).StoreSlice(tops[k:])
		archsimd.LoadFloat32x8Slice(tops[k+8:]).Max(v1).StoreSlice(tops[k+8:])
	}
	top := largest(m0.Max(m1), nil)
	if k < len(x) {
		top = max(top, maximumIntoPlain(tops[k:], x[k:]))
	}
	return top
}

func largest(m archsimd.Float32x8, rest []float32) float32 {
	var lanes [8]float32
	m.Store(&lanes)
	archsimd.ClearAVXUpperBits()
	top := maximumPlain(lanes[:])
	if len(rest) > 0 {
		top = max(top, maximumPlain(rest))
	}
	return top
}
