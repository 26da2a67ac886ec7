package onnx

import (
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
)

// Recurrent layers, unrolled step by step.

// recurrent is a recurrent layer with its sizes.
type recurrent struct {
	*op
	gates                                        int
	steps, records, width, hidden, directions    int
	activations                                  []func(x *graph.Node) *graph.Node
	x                                            *graph.Node   // [step, record, width]
	start                                        []*graph.Node // [direction, record, hidden] of each state, or nil
	weights, feedback, biases, backBias, windows *graph.Node
}

// state is what a step passes to the next.
type state []*graph.Node

// step computes the next state from the input's contribution to the gates, [record, gate *
// hidden].
type step func(r *recurrent, way int, gates *graph.Node, s state) state

// recurrentOf translates a layer with this many gates and states.
func recurrentOf(gates, states int, defaults []string, next step) func(o *op) []*value {
	return func(o *op) []*value {
		r := &recurrent{op: o, gates: gates}
		r.read(states, defaults)
		return r.run(states, next)
	}
}

func (r *recurrent) read(states int, defaults []string) {
	v := r.in[0]
	if v.rank() != 3 || r.in[1].rank() != 3 || r.in[2].rank() != 3 {
		fail("a sequence of shape %v", v.dims)
	}
	r.x = r.op.inputNode(0)
	if r.batchFirst() {
		r.x = permute(r.x, []int{1, 0, 2})
	}
	dims := r.x.Shape().Dimensions
	r.steps, r.records, r.width = dims[0], dims[1], dims[2]
	r.hidden = r.in[2].dims[2]
	r.directions = 1
	if r.string("direction") == "bidirectional" {
		r.directions = 2
	}
	if r.attribute("hidden_size") != nil && r.int("hidden_size") != r.hidden {
		fail("its attribute hidden_size = %d, and its weights are of shape %v", r.int("hidden_size"), r.in[2].dims)
	}
	r.checkShape(1, r.directions, r.gates*r.hidden, r.width)
	r.checkShape(2, r.directions, r.gates*r.hidden, r.hidden)
	r.weights, r.feedback = r.op.inputNode(1), r.op.inputNode(2)
	if r.hasInput(3) {
		r.checkShape(3, r.directions, 2*r.gates*r.hidden)
		r.biases = sliceAxis(r.op.inputNode(3), 1, 0, r.gates*r.hidden, 1)
		r.backBias = sliceAxis(r.op.inputNode(3), 1, r.gates*r.hidden, r.gates*r.hidden, 1)
	}
	r.checkLengths()
	for i := range states {
		r.start = append(r.start, r.initial(5+i))
	}
	if r.hasInput(7) {
		r.checkShape(7, r.directions, 3*r.hidden)
		r.windows = r.op.inputNode(7)
	}
	r.choose(defaults)
}

// batchFirst reports whether the axis of records comes before that of steps.
func (r *recurrent) batchFirst() bool { return r.hasAttribute("layout") && r.int("layout") == 1 }

// checkShape refuses an input of another shape.
func (r *recurrent) checkShape(i int, dims ...int) {
	if !slices.Equal(r.in[i].dims, dims) {
		fail("its input %d is of shape %v, and not %v", i, r.in[i].dims, dims)
	}
}

// checkLengths refuses sequences of different lengths.
func (r *recurrent) checkLengths() {
	if !r.hasInput(4) {
		return
	}
	if !r.in[4].known {
		fail("sequences of different lengths are not implemented")
	}
	for _, n := range r.numbers(4) {
		if int(n) != r.steps {
			fail("sequences of different lengths are not implemented")
		}
	}
}

func (r *recurrent) initial(i int) *graph.Node {
	if !r.hasInput(i) {
		zero := graph.Scalar(r.g, r.x.DType(), 0)
		return broadcast(zero, []int{r.directions, r.records, r.hidden})
	}
	h := r.op.inputNode(i)
	if r.batchFirst() {
		r.checkShape(i, r.records, r.directions, r.hidden)
		return permute(h, []int{1, 0, 2})
	}
	r.checkShape(i, r.directions, r.records, r.hidden)
	return h
}

// choose reads the activation functions of the gates and their settings: the lists hold
// those of the functions that have any, in order.
func (r *recurrent) choose(defaults []string) {
	names := slices.Repeat(defaults, r.directions)
	if a := r.attribute("activations"); a != nil {
		if len(a.strings) != len(names) {
			fail("its attribute activations = %s names %d functions, and should name %d", a, len(a.strings), len(names))
		}
		names = a.strings
	}
	alphas, betas := r.settings("activation_alpha"), r.settings("activation_beta")
	for _, name := range names {
		f, ok := activations[strings.ToLower(name)]
		if !ok {
			fail("its attribute activations holds %s, which is not implemented", name)
		}
		alpha, beta := f.alpha, f.beta
		if f.takes > 0 && len(alphas) > 0 {
			alpha, alphas = alphas[0], alphas[1:]
		}
		if f.takes > 1 && len(betas) > 0 {
			beta, betas = betas[0], betas[1:]
		}
		r.activations = append(r.activations, func(x *graph.Node) *graph.Node { return f.run(x, alpha, beta) })
	}
	if len(alphas)+len(betas) > 0 {
		fail("its attributes activation_alpha and activation_beta hold more numbers than its functions take")
	}
}

func (r *recurrent) settings(name string) []float64 {
	a := r.attribute(name)
	if a == nil {
		return nil
	}
	return fill(len(a.floats), func(i int) float64 { return float64(a.floats[i]) })
}

// activation is a gate's function with up to two settings.
type activation struct {
	takes       int
	alpha, beta float64
	run         func(x *graph.Node, alpha, beta float64) *graph.Node
}

func withoutSettings(f func(x *graph.Node) *graph.Node) activation {
	return activation{run: func(x *graph.Node, _, _ float64) *graph.Node { return f(x) }}
}

var activations = map[string]activation{
	"sigmoid": withoutSettings(graph.Logistic), "tanh": withoutSettings(graph.Tanh), "relu": withoutSettings(relu),
	"softsign": withoutSettings(softsign), "softplus": withoutSettings(softplus),
	"hardsigmoid": {2, 0.2, 0.5, hardSigmoidOf}, "leakyrelu": {1, 0.01, 0, leakyOf}, "elu": {1, 1, 0, eluOf},
	"thresholdedrelu": {1, 1, 0, thresholdOf},
	"affine": {2, 1, 0, func(x *graph.Node, alpha, beta float64) *graph.Node {
		return graph.Add(graph.Mul(x, constLike(x, alpha)), constLike(x, beta))
	}},
	"scaledtanh": {2, 1, 1, func(x *graph.Node, alpha, beta float64) *graph.Node {
		return graph.Mul(graph.Tanh(graph.Mul(x, constLike(x, beta))), constLike(x, alpha))
	}},
}

// activate applies the i-th function of a direction.
func (r *recurrent) activate(way, i int, x *graph.Node) *graph.Node {
	return r.activations[way*len(r.activations)/r.directions+i](x)
}

// clipped clamps the input of a gate, if the layer has bounds.
func (r *recurrent) clipped(x *graph.Node) *graph.Node {
	bound := r.float("clip")
	if r.attribute("clip") == nil || bound <= 0 {
		return x
	}
	return graph.Max(graph.Min(x, constLike(x, bound)), constLike(x, -bound))
}

// directionOf returns one direction's part of weights.
func directionOf(x *graph.Node, way int) *graph.Node {
	x = sliceAxis(x, 0, way, 1, 1)
	return graph.Reshape(x, x.Shape().Dimensions[1:]...)
}

// gate returns the i-th of the gates in the last axis.
func (r *recurrent) gate(x *graph.Node, i int) *graph.Node {
	return sliceAxis(x, x.Rank()-1, i*r.hidden, r.hidden, 1)
}

// recurrentGates returns a state's contribution to n gates from the i-th on.
func (r *recurrent) recurrentGates(way, i, n int, h *graph.Node) *graph.Node {
	w := sliceAxis(directionOf(r.feedback, way), 0, i*r.hidden, n*r.hidden, 1)
	y := graph.DotGeneral(h, []int{1}, nil, w, []int{1}, nil)
	if r.backBias == nil {
		return y
	}
	bias := sliceAxis(directionOf(r.backBias, way), 0, i*r.hidden, n*r.hidden, 1)
	return graph.Add(y, broadcast(bias, y.Shape().Dimensions))
}

func (r *recurrent) run(states int, next step) []*value {
	e := r.in[0].elem
	checkSize([]int{r.steps, r.records, r.gates * r.hidden})
	if r.steps > maxNodes/32 {
		fail("%d steps unroll to more than %d operations", r.steps, maxNodes)
	}
	var sequences []*graph.Node
	ends := make([][]*graph.Node, states)
	for way := range r.directions {
		gates := graph.DotGeneral(r.x, []int{2}, nil, directionOf(r.weights, way), []int{1}, nil)
		if r.biases != nil {
			gates = graph.Add(gates, broadcast(directionOf(r.biases, way), gates.Shape().Dimensions))
		}
		var s state
		for _, first := range r.start {
			s = append(s, directionOf(first, way))
		}
		outputs := make([]*graph.Node, r.steps)
		for t := range r.steps {
			if way == 1 || r.string("direction") == "reverse" {
				t = r.steps - 1 - t
			}
			s = next(r, way, directionOf(gates, t), s)
			outputs[t] = graph.Reshape(s[0], 1, 1, r.records, r.hidden)
		}
		sequences = append(sequences, concatNodes(outputs, 0))
		for i := range states {
			ends[i] = append(ends[i], graph.Reshape(s[i], 1, r.records, r.hidden))
		}
	}
	all := concatNodes(sequences, 1) // [step, way, record, hidden]
	if r.batchFirst() {
		all = permute(all, []int{2, 0, 1, 3})
	}
	out := []*value{computedValue(e, all)}
	for _, list := range ends {
		end := concatNodes(list, 0)
		if r.batchFirst() {
			end = permute(end, []int{1, 0, 2})
		}
		out = append(out, computedValue(e, end))
	}
	return out
}

func rnnStep(r *recurrent, way int, x *graph.Node, s state) state {
	return state{r.activate(way, 0, r.clipped(graph.Add(x, r.recurrentGates(way, 0, 1, s[0]))))}
}

// lstmStep has the gates input, output, forget and cell, with optional peepholes.
func lstmStep(r *recurrent, way int, x *graph.Node, s state) state {
	x = graph.Add(x, r.recurrentGates(way, 0, 4, s[0]))
	look := func(i int, gate, cell *graph.Node) *graph.Node {
		if r.windows == nil {
			return gate
		}
		w := sliceAxis(directionOf(r.windows, way), 0, i*r.hidden, r.hidden, 1)
		return graph.Add(gate, graph.Mul(broadcast(w, cell.Shape().Dimensions), cell))
	}
	in := r.activate(way, 0, r.clipped(look(0, r.gate(x, 0), s[1])))
	forget := r.activate(way, 0, r.clipped(look(2, r.gate(x, 2), s[1])))
	if r.flag("input_forget") {
		forget = graph.Sub(constLike(in, 1), in)
	}
	cell := graph.Add(graph.Mul(forget, s[1]), graph.Mul(in, r.activate(way, 1, r.clipped(r.gate(x, 3)))))
	out := r.activate(way, 0, r.clipped(look(1, r.gate(x, 1), cell)))
	return state{graph.Mul(out, r.activate(way, 2, cell)), cell}
}

// gruStep has the gates update, reset and hidden. The reset is applied before the product
// with the state's weights, or after it.
func gruStep(r *recurrent, way int, x *graph.Node, s state) state {
	h := s[0]
	both := r.recurrentGates(way, 0, 2, h)
	update := r.activate(way, 0, r.clipped(graph.Add(r.gate(x, 0), r.gate(both, 0))))
	reset := r.activate(way, 0, r.clipped(graph.Add(r.gate(x, 1), r.gate(both, 1))))
	var old *graph.Node
	if r.hasAttribute("linear_before_reset") && r.flag("linear_before_reset") {
		old = graph.Mul(reset, r.recurrentGates(way, 2, 1, h))
	} else {
		old = r.recurrentGates(way, 2, 1, graph.Mul(reset, h))
	}
	fresh := r.activate(way, 1, r.clipped(graph.Add(r.gate(x, 2), old)))
	return state{graph.Add(graph.Mul(graph.Sub(constLike(update, 1), update), fresh), graph.Mul(update, h))}
}
