// The backend that records the graph of one model.

package stacked

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/notimplemented"
	"github.com/gomlx/compute/shapes"
)

// recorder is the backend that GoMLX sees: it records a graph of one model.
type recorder struct {
	compute.Backend // the real one
	models          int
	inputs          []Input
}

// Builder implements compute.Backend.
func (r *recorder) Builder(name string) compute.Builder {
	b := &builder{recorder: r, name: name, single: r.Backend.Builder(name)}
	b.main = b.newFunction(compute.MainName, b.single.Main())
	return b
}

// builder records the functions of a graph. It also builds the graph of one model on the
// real backend, which infers the shapes and says which operations it has.
type builder struct {
	notimplemented.Builder
	*recorder
	name   string
	single compute.Builder
	main   *function
}

// Name implements compute.Builder.
func (b *builder) Name() string { return b.name }

// Main implements compute.Builder.
func (b *builder) Main() compute.Function { return b.main }

// NewFunction implements compute.Builder.
func (b *builder) NewFunction(name string) (compute.Function, error) {
	single, err := b.single.NewFunction(name)
	if err != nil {
		return nil, err
	}
	return b.newFunction(name, single), nil
}

// OpShape implements compute.Builder.
func (b *builder) OpShape(v compute.Value) (shapes.Shape, error) { return b.main.Shape(v) }

// Compile implements compute.Builder: it emits the recorded graph with the axis of the models
// on the real backend, and compiles that.
func (b *builder) Compile() (compute.Executable, error) {
	to := b.recorder.Backend.Builder(b.name)
	if err := b.main.emitMain(to.Main()); err != nil {
		return nil, err
	}
	return to.Compile()
}

func (b *builder) newFunction(name string, single compute.Function) *function {
	f := &function{builder: b, name: name, single: single}
	f.ErrFn = func(op compute.OpType) error { return refused(op.String()) }
	return f
}

// refused returns the error for an operation that has no stacked form.
func refused(op string) error {
	return fmt.Errorf("%s has no form for several models side by side: %w", op, compute.ErrNotImplemented)
}

// function is a recorded function: the main one, a closure, or one that is called.
type function struct {
	notimplemented.Function
	builder    *builder
	name       string
	parent     *function        // of a closure
	single     compute.Function // the function for one model on the real backend
	params     []*value
	names      []string
	operations []*operation
	outputs    []*value
}

// value is a recorded value of one model.
type value struct {
	fn     *function
	single compute.Value // the value in the graph of one model
	shape  shapes.Shape  // for one model
}

// operation is a recorded operation. If no operand is stacked, it is emitted by one,
// otherwise by many. An operation with closures is emitted by flow.
type operation struct {
	name string
	in   []*value
	out  []*value
	one  oneForm
	many manyForm // nil: refused
	flow flow
}

type (
	// oneForm emits an operation as GoMLX asked for it.
	oneForm func(on compute.Function, in []compute.Value) ([]compute.Value, error)
	// manyForm emits an operation for several models: some operands are stacked, and all
	// results are. out has the shapes of the results for one model.
	manyForm func(e *emission, in []operand, out []*value) []compute.Value
)

// Name implements compute.Function.
func (f *function) Name() string { return f.name }

// Builder implements compute.Function.
func (f *function) Builder() compute.Builder { return f.builder }

// Parent implements compute.Function.
func (f *function) Parent() compute.Function {
	if f.parent == nil {
		return nil
	}
	return f.parent
}

// Closure implements compute.Function.
func (f *function) Closure() (compute.Function, error) {
	single, err := f.single.Closure()
	if err != nil {
		return nil, err
	}
	c := f.builder.newFunction("", single)
	c.parent = f
	return c, nil
}

// Shape implements compute.Function: the shape for one model.
func (f *function) Shape(v compute.Value) (shapes.Shape, error) {
	x, err := f.values(v)
	if err != nil {
		return shapes.Invalid(), err
	}
	return x[0].shape, nil
}

// Parameter implements compute.Function.
func (f *function) Parameter(name string, shape shapes.Shape, sharding *compute.ShardingSpec) (compute.Value, error) {
	if sharding != nil || shape.IsDynamic() {
		return nil, refused("a parameter that is sharded or has a dynamic shape")
	}
	single, err := f.single.Parameter(name, shape, nil)
	if err != nil {
		return nil, err
	}
	v := &value{f, single, shape}
	f.params, f.names = append(f.params, v), append(f.names, name)
	return v, nil
}

// Return implements compute.Function.
func (f *function) Return(outputs []compute.Value, shardings []*compute.ShardingSpec) error {
	if slices.ContainsFunc(shardings, func(s *compute.ShardingSpec) bool { return s != nil }) {
		return refused("a sharded result")
	}
	out, err := f.values(outputs...)
	if err != nil {
		return err
	}
	f.outputs = out
	return f.single.Return(singles(out), nil)
}

// values returns GoMLX's values as recorded ones.
func (f *function) values(in ...compute.Value) ([]*value, error) {
	out := make([]*value, len(in))
	for i, v := range in {
		x, ok := v.(*value)
		if !ok || x == nil || x.fn.builder != f.builder {
			return nil, fmt.Errorf("%T is not a value of this graph", v)
		}
		out[i] = x
	}
	return out, nil
}

func singles(in []*value) []compute.Value {
	out := make([]compute.Value, len(in))
	for i, v := range in {
		out[i] = v.single
	}
	return out
}

// record records an operation whose name, operands and forms are given. The forms own their
// arguments, because the graph is emitted later.
func (f *function) record(o *operation, in ...compute.Value) ([]compute.Value, error) {
	var err error
	if o.in, err = f.values(in...); err != nil {
		return nil, fmt.Errorf("%s: %w", o.name, err)
	}
	results, err := o.one(f.single, singles(o.in))
	if err != nil {
		return nil, err
	}
	out := make([]compute.Value, len(results))
	for i, single := range results {
		shape, err := f.single.Shape(single)
		if err != nil {
			return nil, err
		}
		v := &value{f, single, shape}
		o.out, out[i] = append(o.out, v), v
	}
	f.operations = append(f.operations, o)
	return out, nil
}

// recordOne records an operation with one result.
func (f *function) recordOne(o *operation, in ...compute.Value) (compute.Value, error) {
	out, err := f.record(o, in...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// asList turns a result into a list of one.
func asList(v compute.Value, err error) ([]compute.Value, error) { return []compute.Value{v}, err }
