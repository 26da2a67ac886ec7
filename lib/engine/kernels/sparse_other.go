//go:build !amd64

package kernels

// multiplySparse is not implemented for this processor.
func multiplySparse[T Float](Level, Pool, Matrix[T], Matrix[T], Matrix[T]) bool { return false }
