//go:build !amd64

package kernels

func multiplySparse[T Float](Level, Pool, Matrix[T], Matrix[T], Matrix[T]) bool { return false }
