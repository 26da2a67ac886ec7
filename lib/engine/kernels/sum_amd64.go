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

//go:noescape
func columns_avx2(sums, a unsafe.Pointer, stride, n int)

//go:noescape
func columns_avx512(sums, a unsafe.Pointer, stride, n int)
