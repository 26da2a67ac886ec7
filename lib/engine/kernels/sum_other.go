//go:build !amd64

package kernels

// columnsAt, eightsAt and the functions below run in Go on processors without AVX2.
func columnsAt(_ Level, s *lanes, a []float32, stride, n int) { columnsScalar(s, a, stride, n) }

func eightsAt(_ Level, s *[8]float64, a, b []float64) { eightsScalar(s, a, b) }

func (e extreme) vectors(_ Level, a []float32) (top float32, rest []float32) { return e.identity(), a }

func finiteVectors[T Float](_ Level, x []T) (sum T, rest []T) { return 0, x }
