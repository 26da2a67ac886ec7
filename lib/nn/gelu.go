// The activations of BERT and GPT-2.

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

// GELUTanh is GELU with its approximation by tanh, as GPT-2 has it (Hendrycks and Gimpel 2016,
// section 2):
//
//	x (1 + tanh u) / 2,  u = sqrt(2/pi) (x + 0.044715 x^3)
//
// whose derivative is (1 + tanh u) / 2 + x (1 - tanh^2 u) u' / 2.
func GELUTanh(t *Tape, x *Node) *Node {
	const cubic = 0.044715
	scale := math.Sqrt(2 / math.Pi)
	square := Square(x)
	tanh := Tanh(MulScalar(Mul(x, AddScalar(MulScalar(square, cubic), 1)), scale))
	phi := MulScalar(AddScalar(tanh, 1), 0.5)
	return t.Op(Mul(x, phi), []*Node{x}, func(v *Node) []*Node {
		slope := MulScalar(AddScalar(MulScalar(square, 3*cubic), 1), scale/2)
		bend := Mul(x, Mul(AddScalar(Neg(Square(tanh)), 1), slope))
		return []*Node{Mul(v, Add(phi, bend))}
	})
}
