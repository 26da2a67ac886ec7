//go:build !(amd64 && goexperiment.simd)

package sde

// multiply is multiplyPlain for two panels b and c.
func multiply(a, b, c []float64, p, q *block) {
	multiplyPlain(a, b, p)
	multiplyPlain(a, c, q)
}
