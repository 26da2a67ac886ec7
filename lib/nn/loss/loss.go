// Package loss has the losses, one per file. A loss names the outputs of a network and the
// inputs of a record that it needs, and builds the losses of a batch. To test your own loss,
// use the conformance suite in package losstest.
package loss

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/store"
)

// Loss computes one number per record from the outputs of a network; lower is better. Its
// fields are plain data: name and JSON identify it in the store.
type Loss interface {
	// Name is a short name, such as "cross-entropy".
	Name() string
	// About is a description in a few words.
	About() string
	// Inputs returns the widths of the inputs per record, by name, for a network with
	// these outputs (name and width). It returns an error if the network lacks an
	// output that the loss needs.
	Inputs(outputs map[string]int) (map[string]int, error)
	// Check returns an error for invalid values of the inputs or invalid fields of the
	// loss. Names and sizes are already checked, and elements are finite.
	Check(in map[string]array.Matrix[float32]) error
	// Graph builds the losses of a batch.
	Graph(g Batch) Value
}

// Batch has the arguments of a loss for n records: the network's outputs and the records'
// inputs, [width, n] each.
type Batch struct{ Outputs, Inputs map[string]*Node }

// Value is a loss on a batch: [1, n], one number per record, which depends on that record
// only, and its derivatives by the outputs, [width, n] each. An absent output has the
// derivative 0. If Adjoints is nil, GoMLX differentiates the loss.
type Value struct {
	Losses   *Node
	Adjoints map[string]*Node
}

// Build builds a loss with its derivatives: those of the loss, or those of GoMLX's
// automatic differentiation if it has none. It panics with an error that names the loss
// if its value has other shapes than Value says.
func Build(l Loss, g Batch) Value {
	v := l.Graph(g)
	checkLosses(l, g, v)
	if v.Adjoints != nil {
		checkAdjoints(l, g, v)
		return v
	}
	// The loss is built on copies: one output may be computed from another, and a
	// derivative must not include that dependency.
	names := slices.Sorted(maps.Keys(g.Outputs))
	copies := Batch{Outputs: map[string]*Node{}, Inputs: g.Inputs}
	nodes := make([]*Node, len(names))
	for i, name := range names {
		nodes[i] = Identity(g.Outputs[name])
		copies.Outputs[name] = nodes[i]
	}
	v = l.Graph(copies)
	v.Adjoints = map[string]*Node{}
	for i, d := range Gradient(ReduceAllSum(v.Losses), nodes...) {
		v.Adjoints[names[i]] = d
	}
	return v
}

// checkLosses panics if the losses of a value are missing or are not one number per record.
func checkLosses(l Loss, g Batch, v Value) {
	if v.Losses == nil {
		panic(fmt.Errorf("the loss %s returns no Losses (nil)", l.Name()))
	}
	for _, out := range g.Outputs {
		n := out.Shape().Dimensions[out.Rank()-1]
		if got := v.Losses.Shape().Dimensions; !slices.Equal(got, []int{1, n}) {
			panic(fmt.Errorf("the loss %s returns losses of shape %v for %d records, not [1 %d]", l.Name(), got, n, n))
		}
	}
}

// checkAdjoints panics if a derivative belongs to no output or has another shape than its output.
func checkAdjoints(l Loss, g Batch, v Value) {
	for _, name := range slices.Sorted(maps.Keys(v.Adjoints)) {
		out, d := g.Outputs[name], v.Adjoints[name]
		switch {
		case out == nil:
			panic(fmt.Errorf("the loss %s returns a derivative by the output %q, which it was not given", l.Name(), name))
		case d == nil:
			panic(fmt.Errorf("the loss %s returns nil for the derivative by the output %q; leave out the name if the derivative is 0", l.Name(), name))
		case !slices.Equal(d.Shape().Dimensions, out.Shape().Dimensions):
			panic(fmt.Errorf("the loss %s returns a derivative by the output %q of shape %v; the output has the shape %v",
				l.Name(), name, d.Shape().Dimensions, out.Shape().Dimensions))
		}
	}
}

// CheckInputs returns an error if in does not fit the loss on a network with these outputs:
// missing or unknown inputs, wrong sizes, invalid values.
func CheckInputs(l Loss, outputs map[string]int, in map[string]array.Matrix[float32], records int) error {
	want, err := l.Inputs(outputs)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		m, ok := in[name]
		switch {
		case !ok:
			return fmt.Errorf("the loss %s needs the input %q", l.Name(), name)
		case m.Rows != records || m.Cols != want[name]:
			return fmt.Errorf("the input %[3]s is %[1]d x %[2]d, not %[4]d x %[5]d", m.Rows, m.Cols, name, records, want[name])
		}
		if err := m.Check(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("the loss %s has no input %q", l.Name(), name)
		}
	}
	return l.Check(in)
}

// Key identifies a loss among those of a program: its name and fields as JSON, and its
// type, because two types can have the same name and fields.
func Key(l Loss) (string, error) {
	b, err := json.Marshal(map[string]any{l.Name(): l, "type and content": store.ContentHash(l)})
	return string(b), err
}

// OutputWidth returns the width of an output, or an error that names it.
func OutputWidth(l Loss, outputs map[string]int, name string) (int, error) {
	w, ok := outputs[name]
	if !ok {
		return 0, fmt.Errorf("the loss %s needs the output %q, which the network does not have", l.Name(), name)
	}
	return w, nil
}
