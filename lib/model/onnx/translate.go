// Translating a network into a graph of the engine.

package onnx

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine/backend"
)

// value is a tensor of the network during translation.
type value struct {
	elem elem
	dims []int
	// A constant, which does not depend on the records, is in flat or text.
	known bool
	flat  any
	text  []string
	node  *graph.Node // its node in the graph; created on first use
}

func (v *value) size() int {
	n := 1
	for _, d := range v.dims {
		n *= d
	}
	return n
}

func (v *value) rank() int { return len(v.dims) }

// refusal is the panic value for a network that is refused; the exported functions turn it
// into an error.
type refusal struct {
	text    string
	named   bool // the text names the operation
	tooMuch bool // fewer records at once may do
}

func (r refusal) String() string { return r.text }

// fail refuses the network: translation stops, by a panic like those of GoMLX's functions.
func fail(format string, args ...any) { panic(refusal{text: fmt.Sprintf(format, args...)}) }

// failLarge refuses what is too large.
func failLarge(format string, args ...any) {
	panic(refusal{text: fmt.Sprintf(format, args...), tooMuch: true})
}

// weights are the constants of a network, read once for all graphs of a run.
type weights struct {
	values  map[string]*value
	tensors map[*value]*tensors.Tensor
}

// builder writes a part of the network as a graph, for one number of records.
type builder struct {
	m       *Model
	g       *graph.Graph
	weights *weights
	values  map[string]*value
	// Weights that every execution gets in addition to the records.
	params []*tensors.Tensor
	nodes  map[*value]*graph.Node
	checks []batchCheck
	folded bool // all inputs are constants: the graph is run at once
	// Bytes of memory in use: now, and at most.
	held, peak int64
	constants  int64 // bytes of the constants that were computed during translation, which stay
	counted    int   // nodes of the graph that have been counted
	// The operator sets and the nesting depth of the function that is translated.
	opsets map[string]int64
	depth  int
	steps  int // operations so far
}

// batchCheck is a condition that must hold for every batch.
type batchCheck struct {
	holds *graph.Node
	what  string
}

// op is one operation during translation.
type op struct {
	*builder
	n     *node
	row   *rule
	opset int64
	in    []*value // nil where an input is left out
}

// translate writes the operations that compute the named values.
func (b *builder) translate(names []string) (out []*value) {
	steps := b.m.neededSteps(names)
	lasts := b.m.lastUses(steps, names)
	for _, i := range steps {
		n := b.m.file.graph.nodes[i]
		b.step(n)
		b.forget(lasts[i])
	}
	for _, name := range names {
		out = append(out, b.lookUpValue(name))
	}
	return out
}

// notImplemented is said of an operation that is in no row of the table.
const notImplemented = " is not supported"

// step translates one operation; a refusal names it.
func (b *builder) step(n *node) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		why, ok := r.(refusal)
		if !ok {
			why.text = firstLine(fmt.Sprint(r))
		}
		switch {
		case why.named:
		case why.text == notImplemented:
			why.text = n.String() + notImplemented
		default:
			why.text = n.String() + ": " + why.text
		}
		why.named = true
		panic(why)
	}()
	if b.steps++; b.steps > maxNodes {
		fail("the network has more than %d operations", maxNodes)
	}
	if f := b.m.file.functions[n.call]; f != nil {
		b.inline(f, n)
		return
	}
	row, opset := b.lookUp(n)
	in := make([]*value, len(n.inputs))
	for i, name := range n.inputs {
		if name != "" {
			in[i] = b.lookUpValue(name)
		}
	}
	for len(in) > 0 && in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	row.check(n, in)
	var out []*value
	if len(n.captured) == 0 {
		out = b.fold(row, n, opset, in)
	}
	if out == nil {
		out = b.run(row, n, opset, in)
	}
	b.count()
	b.keep(n, out)
}

// keep stores the results of an operation by name.
func (b *builder) keep(n *node, out []*value) {
	for i, name := range n.outputs {
		switch {
		case name == "" || i >= len(out) || out[i] == nil:
		case b.values[name] != nil:
			fail("it computes %q, which exists already", name)
		default:
			b.values[name] = out[i]
		}
	}
}

// String names an operation for error messages.
func (n *node) String() string {
	made := slices.DeleteFunc(slices.Clone(n.outputs), func(s string) bool { return s == "" })
	if len(made) > 1 {
		made = made[:1]
	}
	if n.label == "" {
		return fmt.Sprintf("operation %q (which makes %q)", n.call.String(), strings.Join(made, ""))
	}
	return fmt.Sprintf("operation %q (node %q, which makes %q)", n.call.String(), n.label, strings.Join(made, ""))
}

// run translates an operation into this graph.
func (b *builder) run(row *rule, n *node, opset int64, in []*value) []*value {
	o := &op{builder: b, n: n, row: row, opset: opset, in: in}
	out := row.run(o)
	for _, v := range out {
		if v != nil && v.node != nil && v.elem.isHalfFloat() {
			v.node = o.roundHalf(v.elem, v.node)
		}
	}
	return out
}

// lookUpValue returns a value by name.
func (b *builder) lookUpValue(name string) *value {
	if v := b.values[name]; v != nil {
		return v
	}
	if b.depth > 0 { // a function does not see the graph around it
		fail("%q is computed later, never, or in another graph", name)
	}
	if v := b.weights.values[name]; v != nil {
		return v
	}
	t := b.m.weights[name]
	if t == nil {
		fail("%q is computed later, never, or in another graph", name)
	}
	v, err := t.value(b.m.folder)
	if err != nil {
		panic(refusal{text: err.Error()})
	}
	b.weights.values[name] = v
	return v
}

// maxFolded is the maximum number of elements for constant folding.
const maxFolded = 1 << 16

// maxFoldedBytes is the maximum memory for computing one constant, and for its value.
const maxFoldedBytes = 8 * 8 * maxFolded

// fold computes an operation of constants at once, on the module's own backend: shapes,
// masks and positions become numbers for later operations. It returns nil if an input is
// not constant, or an input or the result is large: then the operation is part of the graph.
func (b *builder) fold(row *rule, n *node, opset int64, in []*value) []*value {
	elements := 0
	inner := &builder{m: b.m, opsets: b.opsets, weights: b.weights, nodes: map[*value]*graph.Node{}, folded: true}
	for _, v := range in {
		if v == nil {
			continue
		}
		if elements += v.size(); !v.known || elements > maxFolded {
			return nil
		}
	}
	inner.g = graph.NewGraph(foldBackend, "constants")
	defer inner.g.Finalize()
	out := inner.run(row, n, opset, in)
	inner.count()
	made := madeBytes(in, out)
	if inner.peak > maxFoldedBytes || made > maxFoldedBytes && slices.ContainsFunc(out, isComputed) {
		return nil
	}
	b.constants += made
	inner.evaluateValues(out)
	return out
}

// isComputed reports whether a value is the result of a graph.
func isComputed(v *value) bool { return v != nil && !v.known }

// madeBytes returns the memory of results that do not share an operand's numbers, whether they
// are views in the graph or not: as constants, they are stored.
func madeBytes(in, out []*value) (n int64) {
	for _, v := range out {
		if v != nil && v.elem != texts && !slices.ContainsFunc(in, v.sharesNumbers) {
			n += int64(v.size()) * int64(v.elem.dtype().Size())
		}
	}
	return n
}

// sharesNumbers reports whether two constants have the same numbers in memory.
func (v *value) sharesNumbers(with *value) bool {
	if with == nil || !v.known || v.flat == nil || with.flat == nil {
		return false
	}
	return reflect.ValueOf(v.flat).Pointer() == reflect.ValueOf(with.flat).Pointer()
}

var foldBackend = backend.Open(1)

// evaluateValues runs the graph and makes its values constants.
func (b *builder) evaluateValues(out []*value) {
	var nodes []*graph.Node
	var open []*value
	for _, v := range out {
		if v != nil && !v.known {
			nodes, open = append(nodes, v.node), append(open, v)
		}
	}
	if len(open) == 0 {
		return
	}
	for _, c := range b.checks {
		nodes = append(nodes, c.holds)
	}
	if err := b.g.Compile(nodes...); err != nil {
		panic(err)
	}
	found := b.g.Run()
	for i, v := range open {
		v.known, v.node, v.flat = true, nil, flatOf(found[i])
	}
	b.checkHolds(found[len(open):])
}

// checkHolds refuses where a check fails.
func (b *builder) checkHolds(found []*tensors.Tensor) {
	for i, c := range b.checks {
		if !flatOf(found[i]).([]bool)[0] {
			fail("%s", c.what)
		}
	}
}

// flatOf copies a tensor's elements.
func flatOf(t *tensors.Tensor) (out any) {
	t.MustConstFlatData(func(flat any) {
		switch x := flat.(type) {
		case []float32:
			out = slices.Clone(x)
		case []float64:
			out = slices.Clone(x)
		case []int8:
			out = slices.Clone(x)
		case []int16:
			out = slices.Clone(x)
		case []int32:
			out = slices.Clone(x)
		case []int64:
			out = slices.Clone(x)
		case []uint8:
			out = slices.Clone(x)
		case []uint16:
			out = slices.Clone(x)
		case []uint32:
			out = slices.Clone(x)
		case []uint64:
			out = slices.Clone(x)
		case []bool:
			out = slices.Clone(x)
		}
	})
	return out
}

// views are the nodes that only view another one and hold no memory.
var views = map[graph.NodeType]bool{
	graph.NodeTypeReshape: true, graph.NodeTypeTranspose: true, graph.NodeTypeBroadcastInDim: true, graph.NodeTypeSlice: true,
	graph.NodeTypeIdentity: true, graph.NodeTypeParameter: true,
}

// maxNodes is the maximum size of a graph: recurrent layers are unrolled step by step.
const maxNodes = 1 << 18

// count accounts for the memory of new nodes, before anything is computed.
func (b *builder) count() {
	all := b.g.Nodes()
	if len(all) > maxNodes {
		fail("the network has more than %d steps", maxNodes)
	}
	for _, n := range all[b.counted:] {
		s := n.Shape()
		size, err := product(s.Dimensions)
		if err != nil {
			failLarge("%v", err)
		}
		bytes := size * int64(s.DType.Size())
		if bytes > maxValueBytes {
			failLarge("a value of shape %v is too large (at most %d GiB)", s.Dimensions, maxValueBytes>>30)
		}
		if !views[n.Type()] {
			b.held += bytes
		}
	}
	b.counted = len(all)
	if b.peak = max(b.peak, b.held); b.held+b.constants > maxBytes && !b.folded {
		failLarge("the values of one execution are too large (at most %d GiB)", maxBytes>>30)
	}
}

// forget drops values that are not read any more, and intermediate ones.
func (b *builder) forget(names []string) {
	for _, name := range names {
		delete(b.values, name)
	}
	b.held = 0
	for _, v := range b.values {
		if v.node != nil && !v.known {
			b.held += int64(v.size()) * int64(v.elem.dtype().Size())
		}
	}
}

// maxConstantBytes is the maximum size of a constant written into a graph; larger ones are
// parameters.
const maxConstantBytes = 256

// nodeOf returns a value's node in this graph.
func (b *builder) nodeOf(v *value) *graph.Node {
	switch {
	case v.elem == texts:
		fail("computing with strings is not supported")
	case !v.known:
		return v.node
	case b.nodes[v] != nil:
		return b.nodes[v]
	}
	t := b.weights.tensors[v]
	if t == nil || b.folded {
		t = tensorOf(v.flat, v.dims)
	}
	var n *graph.Node
	if b.folded || v.size()*v.elem.dtype().Size() <= maxConstantBytes {
		n = graph.ConstTensor(b.g, t)
	} else {
		b.weights.tensors[v] = t
		b.params = append(b.params, t)
		n = graph.Parameter(b.g, fmt.Sprintf("weights %d", len(b.params)), t.Shape())
	}
	b.nodes[v] = n
	return n
}

// computedValue is a value that the graph computes.
func computedValue(e elem, n *graph.Node) *value {
	return &value{elem: e, dims: slices.Clone(n.Shape().Dimensions), node: n}
}

// knownValue is a constant.
func knownValue[T any](e elem, flat []T, dims ...int) *value {
	return &value{elem: e, dims: dims, known: true, flat: flat}
}

// requireAlways refuses every batch for which the condition does not hold.
func (o *op) requireAlways(holds *graph.Node, format string, args ...any) {
	o.checks = append(o.checks, batchCheck{graph.ReduceLogicalAnd(holds), o.n.String() + ": " + fmt.Sprintf(format, args...)})
}

// roundHalf rounds a four-byte float to what a two-byte float would hold.
func (b *builder) roundHalf(e elem, x *graph.Node) *graph.Node {
	c := func(v float64) *graph.Node {
		return broadcast(graph.Scalar(x.Graph(), x.DType(), v), x.Shape().Dimensions)
	}
	if e == bfloat16s { // the same range as float32: the largest values are scaled down for rounding
		large := graph.GreaterThan(graph.Abs(x), c(1e30))
		y := upperBits(graph.Where(large, graph.Mul(x, c(0x1p-64)), x), c(1<<16+1))
		return graph.Where(graph.IsFinite(x), graph.Where(large, graph.Mul(y, c(0x1p64)), y), x)
	}
	size := graph.Abs(x)
	tiny := graph.Mul(graph.Round(graph.Mul(x, c(0x1p24))), c(0x1p-24))
	y := graph.Where(graph.LessThan(size, c(0x1p-14)), tiny, upperBits(x, c(1<<13+1)))
	return graph.Where(graph.GreaterOrEqual(size, c(65520)), graph.Mul(x, c(3e38)), y)
}

// upperBits returns x without its last bits, rounded to nearest (Veltkamp's splitting).
func upperBits(x, factor *graph.Node) *graph.Node {
	large := graph.Mul(x, factor)
	return graph.Sub(large, graph.Sub(large, x))
}
