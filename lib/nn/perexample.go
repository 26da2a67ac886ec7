package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// paramUse says how one layer's parameters enter every record's gradient.
type paramUse interface {
	// params are the parameters in question.
	params() []*Node
	// output is the node whose adjoint the gradients are formed from.
	output() *Node
	// normSquared is [1, n]: per record, the squared norm of its gradient with
	// respect to params, from the per-record adjoint v of output.
	normSquared(v *Node) *Node
	// squares is, per parameter, the sum over records of weight_i g_i^2.
	squares(v, weight *Node) []*Node
}

// denseUse: record i's weight gradient is the outer product of its adjoint and
// its input, so squared norms and squares factorise and no per-record matrix
// is ever formed.
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

// PerExampleNorms returns, as [1, n], the norm of every record's own gradient
// over all parameters, given the derivatives of the losses' sum by the network's
// outputs: record i's column depends on its own loss alone. Without a layer that
// has parameters it is nil.
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

// PerExampleSquares returns, per parameter of wrt, the sum over records of
// weight_i g_i^2, where g_i is record i's own gradient: with weight 1 the
// empirical diagonal Fisher information (times n).
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
