//go:build !(goexperiment.simd && amd64)

package engine

// SIMDBuild tells whether this program was built with GOEXPERIMENT=simd.
const SIMDBuild = false

func matmulKernel() string { return "scalar" }
