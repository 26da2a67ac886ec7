package kernels

import "unsafe"

// columnsAt is columnsScalar at level l. n is at least 1.
func columnsAt(l Level, s *lanes, a []float32, stride, n int) {
	_ = a[(n-1)*stride+len(s)-1]
	switch l {
	case AVX512:
		columns_avx512(unsafe.Pointer(s), ptr(a), 4*stride, n)
	case AVX2:
		columns_avx2(unsafe.Pointer(s), ptr(a), 4*stride, n)
	default:
		columnsScalar(s, a, stride, n)
	}
}

// eightsAt is eightsScalar at level l. a is not empty.
func eightsAt(l Level, s *[8]float64, a, b []float64) {
	if l < AVX2 {
		eightsScalar(s, a, b)
		return
	}
	eights_avx2(unsafe.Pointer(s), ptr(a), ptr(b), len(a)/len(s))
}

// vectors returns the extreme of as many elements as fill vectors of AVX2, and the rest.
func (e extreme) vectors(l Level, a []float32) (top float32, rest []float32) {
	const side = 16
	if top = e.identity(); l < AVX2 || len(a) < side {
		return top, a
	}
	tops := [side]float32(a)
	for len(a) >= side {
		n := min(len(a), atOnce) / side
		if e == smallest {
			smallest_avx2(unsafe.Pointer(&tops), ptr(a), n)
		} else {
			largest_avx2(unsafe.Pointer(&tops), ptr(a), n)
		}
		a = a[n*side:]
	}
	for _, x := range tops {
		top = e.combine(top, x)
	}
	return top, a
}

// finiteVectors returns the sum of v - v over as many elements as fill four vectors of AVX2,
// and the rest.
func finiteVectors[T Float](l Level, x []T) (sum T, rest []T) {
	size := sizeOf[T]()
	side, run := 128/size, finite_avx2
	if size == 8 {
		run = finited_avx2
	}
	var sums [8]T
	for l >= AVX2 && len(x) >= side {
		n := min(len(x), atOnce) / side
		run(unsafe.Pointer(&sums), ptr(x), n)
		for _, v := range sums {
			sum += v
		}
		x = x[n*side:]
	}
	return sum, x
}

//go:noescape
func finite_avx2(sums, x unsafe.Pointer, n int)

//go:noescape
func finited_avx2(sums, x unsafe.Pointer, n int)

//go:noescape
func columns_avx2(sums, a unsafe.Pointer, stride, n int)

//go:noescape
func columns_avx512(sums, a unsafe.Pointer, stride, n int)

//go:noescape
func largest_avx2(tops, a unsafe.Pointer, n int)

//go:noescape
func smallest_avx2(tops, a unsafe.Pointer, n int)

//go:noescape
func eights_avx2(sums, a, b unsafe.Pointer, n int)
