package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// paramUse computes gradients per record for the parameters of one layer.
type paramUse interface {
	// params returns the parameters.
	params() []*Node
	// output returns the node whose adjoint the gradients depend on.
	output() *Node
	// normSquared returns [1, n]: for each record the squared norm of its gradient by
	// params, from the adjoint v of output.
	normSquared(v *Node) *Node
	// squares returns, for each parameter, the sum over records of weight_i g_i^2.
	squares(v, weight *Node) []*Node
}

// denseUse is the paramUse of a dense layer: the weight gradient of record i is the outer
// product of its adjoint and its input, so squared norms and squares factorise and no
// matrix per record is formed.
type denseUse struct{ x, w, b, y *Node }

func (d denseUse) params() []*Node { return []*Node{d.w, d.b} }
func (d denseUse) output() *Node   { return d.y }

func (d denseUse) normSquared(v *Node) *Node {
	in := AddScalar(ReduceAndKeep(Square(d.x), ReduceSum, 0), 1) // 1 for the bias
	return Mul(in, ReduceAndKeep(Square(v), ReduceSum, 0))
}

func (d denseUse) squares(v, weight *Node) []*Node {
	q := Mul(Square(v), weight)
	return []*Node{matMulT(q, Square(d.x)), sumColumns(q)}
}

// PerExampleNorms returns [1, n], the norm of each record's gradient over all parameters,
// given the derivatives of the sum of losses by the network's outputs. It is nil without
// layers that have parameters.
func (t *Tape) PerExampleNorms(from Adjoints) *Node {
	var total *Node
	adjoints := t.adjoints(from)
	for _, u := range t.uses {
		v := adjoints[u.output()]
		if v == nil {
			continue
		}
		if n2 := u.normSquared(v); total == nil {
			total = n2
		} else {
			total = Add(total, n2)
		}
	}
	if total == nil {
		return nil
	}
	return Sqrt(total)
}

// PerExampleSquares returns, for each parameter of wrt, the sum over records of
// weight_i g_i^2, where g_i is the gradient of record i. With weight 1 this is n times the
// diagonal of the empirical Fisher information.
func (t *Tape) PerExampleSquares(from Adjoints, weight *Node, wrt []*Node) []*Node {
	sums := map[*Node]*Node{}
	adjoints := t.adjoints(from)
	for _, u := range t.uses {
		v := adjoints[u.output()]
		if v == nil {
			continue
		}
		for i, s := range u.squares(v, weight) {
			sums[u.params()[i]] = s
		}
	}
	out := make([]*Node, len(wrt))
	for i, p := range wrt {
		if out[i] = sums[p]; out[i] == nil {
			out[i] = ZerosLike(p)
		}
	}
	return out
}
