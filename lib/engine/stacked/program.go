// Compilation of one model's graph for m models, and its execution.

package stacked

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Input describes an input of a program.
type Input struct {
	Name    string       // unique in the program
	Shape   shapes.Shape // for one model
	Shared  bool         // whether all models get the same tensor
	Donated bool         // whether an execution may reuse the tensor's memory; Run then consumes the tensor
}

// Program is a compiled graph of one model that runs for several models. It is safe for
// concurrent use.
type Program struct {
	backend    compute.Backend
	executable compute.Executable
	models     int
	inputs     []Input
	donated    []bool
}

// Compile compiles a graph of one model for a number of models side by side. build gets one
// node per input with the shape for one model. An operation without a stacked form is an
// error that wraps [compute.ErrNotImplemented]; the caller then runs the models one by one.
func Compile(backend compute.Backend, models int, inputs []Input, build func(in []*graph.Node) []*graph.Node) (p *Program, err error) {
	if models < 1 {
		return nil, fmt.Errorf("stacked: %d models, want at least 1", models)
	}
	if len(inputs) == 0 {
		return nil, fmt.Errorf("stacked: a program without inputs")
	}
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, panicError(r)
		}
	}()
	g := graph.NewGraph(&recorder{Backend: backend, models: models, inputs: inputs}, "")
	nodes := make([]*graph.Node, len(inputs))
	donated := make([]bool, len(inputs))
	for i, in := range inputs {
		nodes[i] = graph.Parameter(g, in.Name, in.Shape)
		donated[i] = in.Donated
	}
	if err := g.Compile(build(nodes)...); err != nil {
		return nil, fmt.Errorf("stacked: %w", err)
	}
	return &Program{backend, g.Executable(), models, slices.Clone(inputs), donated}, nil
}

// panicError returns the value of a panic in graph-building code as an error.
func panicError(r any) error {
	if err, ok := r.(error); ok {
		return fmt.Errorf("stacked: %w", err)
	}
	return fmt.Errorf("stacked: %v", r)
}

// Models returns the number of models.
func (p *Program) Models() int { return p.models }

// InputShape returns the shape of the tensor for input i: for stacked inputs with a leading
// axis of the number of models.
func (p *Program) InputShape(i int) shapes.Shape {
	in := p.inputs[i]
	if in.Shared {
		return in.Shape
	}
	return withModels(p.models, in.Shape)
}

// Run executes the program on one tensor per input, of the shapes of InputShape. The results
// have one tensor per output of the graph, with a leading axis of the number of models; they
// lie on the device. Donated inputs must not be used afterwards.
func (p *Program) Run(in ...*tensors.Tensor) ([]*tensors.Tensor, error) {
	if err := p.check(in); err != nil {
		return nil, err
	}
	buffers := make([]compute.Buffer, len(in))
	for i, t := range in {
		buffer := t.Buffer
		if p.donated[i] {
			buffer = t.DonateBuffer
		}
		b, err := buffer(p.backend, 0)
		if err != nil {
			return nil, fmt.Errorf("stacked: input %s: %w", p.inputs[i].Name, err)
		}
		buffers[i] = b
	}
	results, err := p.executable.Execute(buffers, p.donated, 0)
	runtime.KeepAlive(in)
	if err != nil {
		return nil, fmt.Errorf("stacked: %w", err)
	}
	out := make([]*tensors.Tensor, len(results))
	for i, b := range results {
		if out[i], err = tensors.FromBuffer(b); err != nil {
			return nil, fmt.Errorf("stacked: result %d: %w", i, err)
		}
	}
	return out, nil
}

// check returns an error if the tensors do not fit the inputs.
func (p *Program) check(in []*tensors.Tensor) error {
	if len(in) != len(p.inputs) {
		return fmt.Errorf("stacked: %d inputs, want %d", len(in), len(p.inputs))
	}
	for i, t := range in {
		if want := p.InputShape(i); !t.Shape().Equal(want) {
			return fmt.Errorf("stacked: input %s has the shape %s, want %s", p.inputs[i].Name, t.Shape(), want)
		}
	}
	return nil
}

// Close releases the executable.
func (p *Program) Close() { p.executable.Finalize() }
