//go:build !amd64

package kernels

// tile is what Go multiplies with: its size only says where work may be cut.
type tile struct{ rows, lanes int }

func (Level) tile() *tile { return &tile{4, 2} }

func (*tile) multiply(c, a, b Matrix, add bool) { multiplyScalar(c, a, b, add) }

func (*tile) packColumns(dst []float32, b Matrix, width int) { packAny(dst, b, width, 0, 0) }

func (*tile) convolve(w window, to target, x []float32, b Matrix, first, last int, add bool) {
	convolveScalar(w, to, x, b, first, last, add)
}

func (*tile) weights(w window, c Matrix, x []float32, v Matrix, first int, add bool) {
	weightsScalar(w, c, x, v, first, add)
}
