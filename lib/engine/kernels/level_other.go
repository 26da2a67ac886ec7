//go:build !amd64 && !arm64

package kernels

// best is Scalar: there is no assembly for this processor.
const best = Scalar

// levels returns all levels that this processor can run.
func levels() []Level { return []Level{Scalar} }
