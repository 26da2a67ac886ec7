// Package loss holds what networks are trained for, one file each: values that
// say which outputs of a network and which inputs of a record they need, and that
// build the losses of a batch. A loss of your own, in any package, is tested by
// the suite in package losstest.
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

// Loss makes one number of what a network returns for a record, lower for a
// better fit. Its fields are plain data: with its name their JSON identifies it
// in the store.
type Loss interface {
	// Name is a short name, such as "cross-entropy".
	Name() string
	// About says in a few words what it is.
	About() string
	// Inputs are the widths of what has to be known of every record, by name, for
	// a network with these outputs (name and width). It refuses a network that
	// lacks what the loss is about.
	Inputs(outputs map[string]int) (map[string]int, error)
	// Check reports values of the inputs that make no sense, and fields of the
	// loss that cannot be used. Names and sizes are right, elements are finite.
	Check(in map[string]array.Matrix[float32]) error
	// Graph builds the losses of a batch.
	Graph(g Batch) Value
}

// Batch is what a loss is computed from, on a batch of n records: the network's
// outputs and the records' inputs, [width, n] each.
type Batch struct{ Outputs, Inputs map[string]*Node }

// Value is a loss on a batch: [1, n], one number per record that depends on that
// record alone, and its derivatives by the outputs, [width, n] each. An output
// that is absent has the derivative 0; nil derivatives are left to the library.
type Value struct {
	Losses   *Node
	Adjoints map[string]*Node
}

// Build builds a loss with its derivatives, by hand where it brings them and by the
// library's automatic differentiation where not.
func Build(l Loss, g Batch) Value {
	v := l.Graph(g)
	if v.Adjoints != nil {
		return v
	}
	// One output may be computed from another: the loss is built on copies, so that
	// a derivative does not count the way through the network.
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

// CheckInputs reports inputs that the loss cannot take from a network with these
// outputs: missing or unknown ones, those of another size, bad values.
func CheckInputs(l Loss, outputs map[string]int, in map[string]array.Matrix[float32], records int) error {
	want, err := l.Inputs(outputs)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		m, ok := in[name]
		switch {
		case !ok:
			return fmt.Errorf("the loss %s needs %q of every record", l.Name(), name)
		case m.Rows != records || m.Cols != want[name]:
			return fmt.Errorf("%d x %d %s, needed are %d x %d", m.Rows, m.Cols, name, records, want[name])
		}
		if err := m.Check(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("the loss %s takes no %q", l.Name(), name)
		}
	}
	return l.Check(in)
}

// Key identifies a loss among those of a program: its name and its fields, as JSON, and
// its type, since two types can have the same name and fields.
func Key(l Loss) (string, error) {
	b, err := json.Marshal(map[string]any{l.Name(): l, "type and content": store.ContentHash(l)})
	return string(b), err
}

// outputWidth is the width of an output, or an error that names it.
func outputWidth(l Loss, outputs map[string]int, name string) (int, error) {
	w, ok := outputs[name]
	if !ok {
		return 0, fmt.Errorf("the loss %s is about the output %q, which the network does not have", l.Name(), name)
	}
	return w, nil
}
