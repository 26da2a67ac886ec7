//go:build !amd64

package kernels

const best = Scalar
