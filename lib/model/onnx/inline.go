package onnx

import (
	"errors"
	"slices"
)

// Subgraphs: functions of the file are inlined where they are called; of a condition that does
// not depend on the records one branch is inlined.

// maxDepth is the maximum nesting depth of graphs.
const maxDepth = 32

var errDeep = errors.New("has graphs that are nested too deeply")

// graphOf reads a graph from an attribute.
func graphOf(raw []byte) (*network, error) {
	g := &network{}
	if err := eachField(raw, g.read); err != nil || g.sparse {
		return nil, errors.New("has a subgraph that cannot be read")
	}
	return g, nil
}

// capture records which outer values the graphs inside each operation may use.
func (g *network) capture(depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	for _, n := range g.nodes {
		for _, a := range n.attributes {
			if a.kind != kindGraph {
				continue
			}
			inner, err := graphOf(a.graph)
			if err == nil {
				err = inner.capture(depth + 1)
			}
			if err != nil {
				return err
			}
			for _, m := range inner.nodes {
				n.captured = slices.Concat(n.captured, m.inputs, m.captured)
			}
			for _, v := range inner.outputs {
				n.captured = append(n.captured, v.name)
			}
		}
	}
	return nil
}

// branch inlines the branch of a constant condition.
func branch(o *op) []*value {
	if !o.in[0].known || o.in[0].size() != 1 {
		fail("its condition depends on the records, which is not supported")
	}
	name := "else_branch"
	if o.in[0].flat.([]bool)[0] {
		name = "then_branch"
	}
	g, err := graphOf(o.attribute(name).graph)
	if err == nil {
		err = g.capture(1)
	}
	if err != nil {
		panic(refusal{text: err.Error()})
	}
	if len(g.inputs) > 0 || len(g.outputs) != len(o.n.outputs) {
		fail("its branch has %d inputs and %d outputs", len(g.inputs), len(g.outputs))
	}
	return o.inlineGraph(g)
}

// inlineGraph inlines a graph that can use the values around it; its own values are dropped
// afterwards.
func (b *builder) inlineGraph(g *network) (out []*value) {
	var fresh []string
	for _, t := range g.weights {
		v, err := t.value(b.m.folder)
		if err != nil {
			panic(refusal{text: err.Error()})
		}
		b.keep(&node{outputs: []string{t.name}}, []*value{v})
		fresh = append(fresh, t.name)
	}
	for _, n := range g.nodes {
		b.step(n)
		fresh = append(fresh, n.outputs...)
	}
	for _, v := range g.outputs {
		out = append(out, b.lookUpValue(v.name))
	}
	for _, name := range fresh {
		delete(b.values, name)
	}
	return out
}

// inline inlines a function where it is called. It sees only its inputs and the operator
// sets that it declares.
func (b *builder) inline(f *function, n *node) {
	if rules[[2]string{f.domain, f.name}] != nil {
		fail("the file redefines an operator of the standard")
	}
	if b.depth >= maxDepth {
		panic(refusal{text: errDeep.Error()})
	}
	if len(n.inputs) > len(f.inputs) || len(n.outputs) > len(f.outputs) {
		fail("its function has %d inputs and %d outputs", len(f.inputs), len(f.outputs))
	}
	for name := range n.attributes {
		if !slices.Contains(f.attributes, name) && f.defaults[name] == nil {
			fail("its function has no attribute %s", name)
		}
	}
	values := map[string]*value{}
	for i, name := range n.inputs {
		if name != "" {
			values[f.inputs[i]] = b.lookUpValue(name)
		}
	}
	outer, opsets := b.values, b.opsets
	b.values, b.opsets, b.depth = values, f.opsets, b.depth+1
	for _, m := range f.nodes {
		b.step(f.bindCall(m, n, values))
	}
	var out []*value
	for i, name := range n.outputs {
		var v *value
		if name != "" {
			v = b.lookUpValue(f.outputs[i])
		}
		out = append(out, v)
	}
	b.values, b.opsets, b.depth = outer, opsets, b.depth-1
	b.keep(n, out)
}

// bindCall returns an operation of a function with the attributes of a call, or the
// function's defaults for attributes that the call leaves out. Inputs that the call leaves
// out stay out.
func (f *function) bindCall(m, call *node, values map[string]*value) *node {
	out := *m
	out.inputs = slices.Clone(m.inputs)
	for i, name := range out.inputs {
		if slices.Contains(f.inputs, name) && values[name] == nil {
			out.inputs[i] = ""
		}
	}
	out.attributes = map[string]*attribute{}
	for name, a := range m.attributes {
		if a.ref == "" {
			out.attributes[name] = a
			continue
		}
		from := call.attributes[a.ref]
		if from == nil {
			from = f.defaults[a.ref]
		}
		if from != nil {
			copied := *from
			copied.name = name
			out.attributes[name] = &copied
		}
	}
	return &out
}
