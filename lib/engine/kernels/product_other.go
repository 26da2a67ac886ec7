//go:build !amd64

package kernels

// tile is the scalar product: a tile of one number.
type tile struct{ rows, lanes int }

func (Level) tile() *tile { return &tile{4, 4} }

func (*tile) multiply(c, a, b Matrix, add bool) { multiplyScalar(c, a, b, add) }
