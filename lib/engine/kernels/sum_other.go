//go:build !amd64

package kernels

func columnsAt(_ Level, s *lanes, a []float32, stride, n int) { columnsScalar(s, a, stride, n) }
