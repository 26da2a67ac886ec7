// The activation of BERT.

package nn

import (
	"math"

	. "github.com/gomlx/gomlx/core/graph"
)

// GELU is x Phi(x) with the normal distribution function Phi(x) = (1 + erf(x / sqrt(2))) / 2
// (Hendrycks and Gimpel 2016), without the approximation by tanh. With the normal density
// phi the derivative is Phi(x) + x phi(x).
func GELU(t *Tape, x *Node) *Node {
	phi := MulScalar(AddScalar(Erf(MulScalar(x, math.Sqrt2/2)), 1), 0.5)
	return t.Op(Mul(x, phi), []*Node{x}, func(v *Node) []*Node {
		density := MulScalar(Exp(MulScalar(Square(x), -0.5)), 1/math.Sqrt(2*math.Pi))
		return []*Node{Mul(v, Add(phi, Mul(x, density)))}
	})
}
