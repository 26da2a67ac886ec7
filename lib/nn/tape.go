package nn

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// Tape records the layers of a forward pass with their backward steps, so that
// a layer can bring a faster gradient than the library's. It uses GoMLX's
// public graph operations only; a part of a model without a hand-written step
// is differentiated by the library (Block).
type Tape struct {
	steps []step
	// uses lists, per parameter, how each record's gradient is formed; see PerExample.
	uses []use
}

type step struct {
	out    *Node
	inputs []*Node
	vjp    func(v *Node) []*Node
}

// Op puts a layer on the tape: out was computed from inputs, and vjp turns the
// adjoint of out into those of the inputs, nil where an input needs none.
func (t *Tape) Op(out *Node, inputs []*Node, vjp func(v *Node) []*Node) *Node {
	t.steps = append(t.steps, step{out, inputs, vjp})
	return out
}

// Block puts f on the tape with the gradient that the library derives.
func (t *Tape) Block(inputs []*Node, f func(in []*Node) *Node) *Node {
	out := f(inputs)
	return t.Op(out, inputs, func(v *Node) []*Node {
		return Gradient(ReduceAllSum(Mul(out, StopGradient(v))), inputs...)
	})
}

// Backward returns the gradients of a scalar with respect to wrt, given its
// adjoint v with respect to out. Nodes that out does not depend on get zeros.
func (t *Tape) Backward(out, v *Node, wrt []*Node) []*Node {
	adjoint := t.adjoints(out, v)
	grads := make([]*Node, len(wrt))
	for i, n := range wrt {
		if grads[i] = adjoint[n]; grads[i] == nil {
			grads[i] = ZerosLike(n)
		}
	}
	return grads
}

func (t *Tape) adjoints(out, v *Node) map[*Node]*Node {
	adjoint := map[*Node]*Node{out: v}
	for i := len(t.steps) - 1; i >= 0; i-- {
		s := t.steps[i]
		a := adjoint[s.out]
		if a == nil {
			continue
		}
		for k, g := range s.vjp(a) {
			in := s.inputs[k]
			switch {
			case g == nil:
			case adjoint[in] == nil:
				adjoint[in] = g
			default:
				adjoint[in] = Add(adjoint[in], g)
			}
		}
	}
	return adjoint
}
