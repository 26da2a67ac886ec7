package nn

import (
	"maps"

	. "github.com/gomlx/gomlx/core/graph"
)

// Tape records the layers of a forward pass with their vector-Jacobian products, so that a
// layer can have a faster gradient than GoMLX's. A part of a model without a hand-written
// gradient is differentiated by GoMLX (Block).
//
// Gradients flow through recorded layers alone. An operation of GoMLX between two layers stops them;
// a training refuses a network with one, see CheckRecorded.
type Tape struct {
	// Training selects training mode: normalisations use the statistics of the batch and
	// report them; see BatchNorm2D.
	Training bool

	steps []step
	// uses has the layers with gradients per record; see PerExampleNorms.
	uses []paramUse
	// batchStats has the parameters of layers that mix the records of a batch.
	batchStats map[*Node]bool
	// statistics has the batch's values of parameters that are state.
	statistics map[*Node]*Node
}

// step is a layer with one adjoint for each of its outputs.
type step struct {
	outs   []*Node
	inputs []*Node
	copies []*Node // of the inputs, for a Block; else nil
	vjp    func(v []*Node) []*Node
}

// Op records a layer: out was computed from inputs, and vjp returns the adjoints of the
// inputs for the adjoint of out; nil for an input without one. No gradient flows to what inputs
// does not name: this is how a network stops a gradient on purpose.
func (t *Tape) Op(out *Node, inputs []*Node, vjp func(v *Node) []*Node) *Node {
	t.Ops([]*Node{out}, inputs, func(v []*Node) []*Node { return vjp(v[0]) })
	return out
}

// Ops is Op for a layer with several outputs. An output that nothing depends on
// has an adjoint of zeros.
func (t *Tape) Ops(outs, inputs []*Node, vjp func(v []*Node) []*Node) {
	t.steps = append(t.steps, step{outs: outs, inputs: inputs, vjp: vjp})
}

// Statistic returns the batch's value of a parameter that is state, such as a running mean,
// or nil if no layer reported one.
func (t *Tape) Statistic(p *Node) *Node { return t.statistics[p] }

func (t *Tape) setStatistic(p, statistic *Node) {
	if t.statistics == nil {
		t.statistics = map[*Node]*Node{}
	}
	t.statistics[p] = statistic
}

// Block records f with the gradient that GoMLX derives. f is applied to copies of the
// inputs: if one input is computed from another, the tape already has that dependency and
// it must not count twice. (A copy is a Reshape to the same shape, because GoMLX does not
// differentiate Identity.) What f uses besides them has no gradient: weights and what is computed
// from them must be among the inputs, see CheckRecorded.
func (t *Tape) Block(inputs []*Node, f func(in []*Node) *Node) *Node {
	copies := make([]*Node, len(inputs))
	for i, in := range inputs {
		copies[i] = Reshape(in, in.Shape().Dimensions...)
	}
	out := f(copies)
	t.Op(out, inputs, func(v *Node) []*Node {
		return Gradient(ReduceAllSum(Mul(out, StopGradient(v))), copies...)
	})
	t.steps[len(t.steps)-1].copies = copies
	return out
}

// Adjoints maps nodes of a graph to the derivatives of a scalar by them.
type Adjoints map[*Node]*Node

// Backward returns the gradients of a scalar with respect to wrt, given its derivatives by
// the outputs of the network. They are zeros for nodes that no output depends on.
func (t *Tape) Backward(from Adjoints, wrt []*Node) []*Node {
	grads := t.Gradients(from, wrt)
	for i, g := range grads {
		if g == nil {
			grads[i] = ZerosLike(wrt[i])
		}
	}
	return grads
}

// Gradients is Backward with nil for nodes that no output depends on.
func (t *Tape) Gradients(from Adjoints, wrt []*Node) []*Node {
	adjoint := t.adjoints(from)
	grads := make([]*Node, len(wrt))
	for i, n := range wrt {
		grads[i] = adjoint[n]
	}
	return grads
}

func (t *Tape) adjoints(from Adjoints) Adjoints {
	adjoint := maps.Clone(from)
	for i := len(t.steps) - 1; i >= 0; i-- {
		s := t.steps[i]
		v := s.adjoint(adjoint)
		if v == nil {
			continue
		}
		for k, g := range s.vjp(v) {
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

// adjoint returns the adjoints of the outputs, or nil if there are none.
func (s step) adjoint(known Adjoints) []*Node {
	v, any := make([]*Node, len(s.outs)), false
	for i, out := range s.outs {
		v[i] = known[out]
		any = any || v[i] != nil
	}
	if !any {
		return nil
	}
	for i, out := range s.outs {
		if v[i] == nil {
			v[i] = ZerosLike(out)
		}
	}
	return v
}
