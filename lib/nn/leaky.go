package nn

import . "github.com/gomlx/gomlx/core/graph"

// LeakyReLU is x where x > 0 and slope x elsewhere, for a slope from 0 to 1. The
// derivative at 0 is the slope, as in PyTorch.
func LeakyReLU(t *Tape, x *Node, slope float64) *Node {
	return t.Op(Max(x, MulScalar(x, slope)), []*Node{x}, func(v *Node) []*Node {
		// The derivative in two cheap passes, as in ReLUDropout.
		return []*Node{Mul(v, MinScalar(MaxScalar(MulScalar(x, huge), slope), 1))}
	})
}
