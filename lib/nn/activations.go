// Activations and sums of a builder.

package nn

import . "github.com/gomlx/gomlx/core/graph"

// Add is x + y of one shape, as in a residual block.
func (b *Builder) Add(x, y *Node) *Node { return Residual(b.Tape, x, y) }

// LeakyReLU is x where x > 0 and slope x elsewhere; see [LeakyReLU].
func (b *Builder) LeakyReLU(x *Node, slope float64) *Node { return LeakyReLU(b.Tape, x, slope) }

// GELU is x times the normal distribution function of x; see [GELU].
func (b *Builder) GELU(x *Node) *Node { return GELU(b.Tape, x) }

// SiLU is x sigmoid(x); see [SiLU].
func (b *Builder) SiLU(x *Node) *Node { return SiLU(b.Tape, x) }

// Tanh is the hyperbolic tangent y, whose derivative is 1 - y^2.
func (b *Builder) Tanh(x *Node) *Node {
	y := Tanh(x)
	return b.Op(y, []*Node{x}, func(v *Node) []*Node { return []*Node{Mul(v, OneMinus(Square(y)))} })
}

// Sigmoid is y = 1/(1 + exp(-x)), whose derivative is y (1 - y).
func (b *Builder) Sigmoid(x *Node) *Node {
	y := Sigmoid(x)
	return b.Op(y, []*Node{x}, func(v *Node) []*Node { return []*Node{Mul(v, Mul(y, OneMinus(y)))} })
}
