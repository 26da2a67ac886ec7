//go:build !amd64 && !arm64

package kernels

const best = Scalar

// levels returns all levels that this processor can run.
func levels() []Level { return []Level{Scalar} }
