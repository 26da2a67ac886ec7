package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// SiLU is x sigmoid(x) (Elfwing, Uchibe and Doya 2018). With s = sigmoid(x) and y = x s
// the derivative is s + y (1 - s).
func SiLU(t *Tape, x *Node) *Node {
	s := Sigmoid(x)
	y := Mul(x, s)
	return t.Op(y, []*Node{x}, func(v *Node) []*Node {
		return []*Node{Mul(v, Add(s, Sub(y, Mul(y, s))))}
	})
}

// SiLU applies SiLU to every pixel.
func (m Image) SiLU(t *Tape) Image {
	return m.withNode(SiLU(t, m.X))
}
