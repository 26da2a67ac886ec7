//go:build !amd64

package kernels

func columnsAt(_ Level, s *lanes, a []float32, stride, n int) { columnsScalar(s, a, stride, n) }

func eightsAt(_ Level, s *[8]float64, a, b []float64) { eightsScalar(s, a, b) }

func topsAt(_ Level, tops *[16]float32, a []float32) { topsScalar(tops, a) }
