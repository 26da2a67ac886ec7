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

// eightsAt is eightsScalar at level l: eight sums are two vectors of AVX2. a is not empty.
func eightsAt(l Level, s *[8]float64, a, b []float64) {
	if l < AVX2 {
		eightsScalar(s, a, b)
		return
	}
	eights_avx2(unsafe.Pointer(s), ptr(a), ptr(b), len(a)/len(s))
}

// topsAt is topsScalar at level l, as eightsAt is.
func topsAt(l Level, tops *[16]float32, a []float32) {
	if l < AVX2 {
		topsScalar(tops, a)
		return
	}
	largest_avx2(unsafe.Pointer(tops), ptr(a), len(a)/len(tops))
}

//go:noescape
func columns_avx2(sums, a unsafe.Pointer, stride, n int)

//go:noescape
func columns_avx512(sums, a unsafe.Pointer, stride, n int)

//go:noescape
func eights_avx2(sums, a, b unsafe.Pointer, n int)

//go:noescape
func largest_avx2(tops, a unsafe.Pointer, n int)
