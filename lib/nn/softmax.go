package nn

import . "github.com/gomlx/gomlx/core/graph"

// SoftmaxFeatures is the softmax of every column of x [d, n],
//
//	p_j = exp(x_j) / sum_k exp(x_k)
//
// whose adjoint of x is p (v - sum_k p_k v_k).
func SoftmaxFeatures(t *Tape, x *Node) *Node {
	p := Softmax(x, 0)
	return t.Op(p, []*Node{x}, func(v *Node) []*Node {
		weighted := Mul(p, v)
		return []*Node{Sub(weighted, Mul(p, ReduceAndKeep(weighted, ReduceSum, 0)))}
	})
}
