//go:build amd64 && goexperiment.simd

package sde

import "simd/archsimd"

// multiply is multiplyPlain with vectors. A lane is a column, and each lane is
// the same chain of fused multiply-adds, so that all builds agree to the last
// bit.
func multiply(a, b []float64, block *[panel * panel]float64) {
	switch {
	case archsimd.X86.AVX512():
		multiply512(a, b, block)
	case archsimd.X86.AVX2() && archsimd.X86.FMA():
		multiply256(a, b, block, 0)
		multiply256(a, b, block, 4)
	default:
		multiplyPlain(a, b, block)
		return
	}
	archsimd.ClearAVXUpperBits()
}

// multiply512 holds the whole block in eight registers.
func multiply512(a, b []float64, block *[panel * panel]float64) {
	row := func(r int) *[8]float64 { return (*[8]float64)(block[r*panel:]) }
	s0, s1 := archsimd.LoadFloat64x8(row(0)), archsimd.LoadFloat64x8(row(1))
	s2, s3 := archsimd.LoadFloat64x8(row(2)), archsimd.LoadFloat64x8(row(3))
	s4, s5 := archsimd.LoadFloat64x8(row(4)), archsimd.LoadFloat64x8(row(5))
	s6, s7 := archsimd.LoadFloat64x8(row(6)), archsimd.LoadFloat64x8(row(7))
	b = b[:len(a)]
	for k := 0; k+panel <= len(a); k += panel {
		x, y := (*[panel]float64)(a[k:]), archsimd.LoadFloat64x8((*[panel]float64)(b[k:]))
		s0 = archsimd.BroadcastFloat64x8(x[0]).MulAdd(y, s0)
		s1 = archsimd.BroadcastFloat64x8(x[1]).MulAdd(y, s1)
		s2 = archsimd.BroadcastFloat64x8(x[2]).MulAdd(y, s2)
		s3 = archsimd.BroadcastFloat64x8(x[3]).MulAdd(y, s3)
		s4 = archsimd.BroadcastFloat64x8(x[4]).MulAdd(y, s4)
		s5 = archsimd.BroadcastFloat64x8(x[5]).MulAdd(y, s5)
		s6 = archsimd.BroadcastFloat64x8(x[6]).MulAdd(y, s6)
		s7 = archsimd.BroadcastFloat64x8(x[7]).MulAdd(y, s7)
	}
	s0.Store(row(0))
	s1.Store(row(1))
	s2.Store(row(2))
	s3.Store(row(3))
	s4.Store(row(4))
	s5.Store(row(5))
	s6.Store(row(6))
	s7.Store(row(7))
}

// multiply256 does four rows of the block, from row first on: eight registers
// for sums, and two for the columns.
func multiply256(a, b []float64, block *[panel * panel]float64, first int) {
	half := func(r, c int) *[4]float64 { return (*[4]float64)(block[(first+r)*panel+c:]) }
	s00, s01 := archsimd.LoadFloat64x4(half(0, 0)), archsimd.LoadFloat64x4(half(0, 4))
	s10, s11 := archsimd.LoadFloat64x4(half(1, 0)), archsimd.LoadFloat64x4(half(1, 4))
	s20, s21 := archsimd.LoadFloat64x4(half(2, 0)), archsimd.LoadFloat64x4(half(2, 4))
	s30, s31 := archsimd.LoadFloat64x4(half(3, 0)), archsimd.LoadFloat64x4(half(3, 4))
	b = b[:len(a)]
	for k := 0; k+panel <= len(a); k += panel {
		x := (*[4]float64)(a[k+first:])
		y0, y1 := archsimd.LoadFloat64x4((*[4]float64)(b[k:])), archsimd.LoadFloat64x4((*[4]float64)(b[k+4:]))
		v := archsimd.BroadcastFloat64x4(x[0])
		s00, s01 = v.MulAdd(y0, s00), v.MulAdd(y1, s01)
		v = archsimd.BroadcastFloat64x4(x[1])
		s10, s11 = v.MulAdd(y0, s10), v.MulAdd(y1, s11)
		v = archsimd.BroadcastFloat64x4(x[2])
		s20, s21 = v.MulAdd(y0, s20), v.MulAdd(y1, s21)
		v = archsimd.BroadcastFloat64x4(x[3])
		s30, s31 = v.MulAdd(y0, s30), v.MulAdd(y1, s31)
	}
	s00.Store(half(0, 0))
	s01.Store(half(0, 4))
	s10.Store(half(1, 0))
	s11.Store(half(1, 4))
	s20.Store(half(2, 0))
	s21.Store(half(2, 4))
	s30.Store(half(3, 0))
	s31.Store(half(3, 4))
}
