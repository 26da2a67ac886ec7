//go:build !amd64

package kernels

// multiplySparse returns false: this processor has no kernel for it, and the caller multiplies densely.
func multiplySparse[T Float](Level, Pool, Matrix[T], Matrix[T], Matrix[T]) bool { return false }
