//go:build !(amd64 && goexperiment.simd)

package sde

func multiply(a, b []float64, block *[panel * panel]float64) { multiplyPlain(a, b, block) }
