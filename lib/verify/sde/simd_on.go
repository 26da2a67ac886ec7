//go:build amd64 && goexperiment.simd

package sde

import (
	"os"
	"simd/archsimd"
	"strconv"
)

// wide says whether the processor has AVX-512. GOMLX_SIMD_AVX512=0 does without
// it here as in the engine, so that a slower processor can be tried on this one.
var wide = archsimd.X86.AVX512() && !off("GOMLX_SIMD_AVX512")

func off(name string) bool {
	on, err := strconv.ParseBool(os.Getenv(name))
	return err == nil && !on
}

// multiply is multiplyPlain for two panels b and c, with vectors. A lane is a
// column, and each lane is the same chain of fused multiply-adds, so that all
// builds agree to the last bit.
func multiply(a, b, c []float64, p, q *block) {
	switch {
	case wide:
		multiply512(a, b, c, p, q, 0)
		multiply512(a, b, c, p, q, 4)
	case archsimd.X86.AVX2() && archsimd.X86.FMA():
		for first := 0; first < panel; first += 4 {
			multiply256(a, b, p, first)
			multiply256(a, c, q, first)
		}
	default:
		multiplyPlain(a, b, p)
		multiplyPlain(a, c, q)
		return
	}
	archsimd.ClearAVXUpperBits()
}

// multiply512 does four rows of both blocks, from row first on: a value of a
// meets sixteen columns.
func multiply512(a, b, c []float64, p, q *block, first int) {
	left := func(r int) *[8]float64 { return (*[8]float64)(p[(first+r)*panel:]) }
	right := func(r int) *[8]float64 { return (*[8]float64)(q[(first+r)*panel:]) }
	s0, t0 := archsimd.LoadFloat64x8(left(0)), archsimd.LoadFloat64x8(right(0))
	s1, t1 := archsimd.LoadFloat64x8(left(1)), archsimd.LoadFloat64x8(right(1))
	s2, t2 := archsimd.LoadFloat64x8(left(2)), archsimd.LoadFloat64x8(right(2))
	s3, t3 := archsimd.LoadFloat64x8(left(3)), archsimd.LoadFloat64x8(right(3))
	b, c = b[:len(a)], c[:len(a)]
	for k := 0; k+panel <= len(a); k += panel {
		x := (*[4]float64)(a[k+first:])
		y, z := archsimd.LoadFloat64x8((*[panel]float64)(b[k:])), archsimd.LoadFloat64x8((*[panel]float64)(c[k:]))
		v := archsimd.BroadcastFloat64x8(x[0])
		s0, t0 = v.MulAdd(y, s0), v.MulAdd(z, t0)
		v = archsimd.BroadcastFloat64x8(x[1])
		s1, t1 = v.MulAdd(y, s1), v.MulAdd(z, t1)
		v = archsimd.BroadcastFloat64x8(x[2])
		s2, t2 = v.MulAdd(y, s2), v.MulAdd(z, t2)
		v = archsimd.BroadcastFloat64x8(x[3])
		s3, t3 = v.MulAdd(y, s3), v.MulAdd(z, t3)
	}
	s0.Store(left(0))
	s1.Store(left(1))
	s2.Store(left(2))
	s3.Store(left(3))
	t0.Store(right(0))
	t1.Store(right(1))
	t2.Store(right(2))
	t3.Store(right(3))
}

// multiply256 does four rows of the block, from row first on: eight registers
// for sums, and two for the columns.
func multiply256(a, b []float64, block *block, first int) {
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
