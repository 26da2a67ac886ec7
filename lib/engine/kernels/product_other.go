//go:build !amd64 && !arm64

package kernels

import "unsafe"

// tile is the tile of the products in Go: its size only says where work may be cut.
type tile[T Float] struct{ rows, lanes int }

func tileAt[T Float](Level) *tile[T] { return &tile[T]{4, 2} }

func (*tile[T]) multiply(c, a, b Matrix[T], add bool) { multiplyGo(c, a, b, add) }

func (*tile[T]) packColumns(dst []T, b Matrix[T], width int) { packStrided(dst, b, width, 0, 0) }

func (w window) convolve(_ *tile[float32], to target, x []float32, b Matrix[float32], first, last int) {
	convolveScalar(w, to, x, b, first, last)
}

func (w window) weights(_ *tile[float32], c Matrix[float32], x []float32, v Matrix[float32], first int) {
	weightsScalar(w, c, x, v, first)
}

func (*tile[T]) width(cols int) int { return cols }

func multiplyFactors(_ *tile[float32], c, a Matrix[float32], f factors, e, j int, add bool) {
	multiplyFactorsScalar(c, a, f, e, j, add)
}

// Prefetch does nothing on this processor.
func Prefetch(unsafe.Pointer, int) {}
