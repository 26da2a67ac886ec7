// Recording of a computation as a graph of nodes, in which equal operations are one node.

package backend

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/notimplemented"
	"github.com/gomlx/compute/shapes"
)

// node is a value of a recorded computation.
type node struct {
	op    compute.OpType
	in    []*node
	shape shapes.Shape
	attr  any // arguments of the operation other than its operands
	id    int // index in its function
	fn    *function
}

func (n *node) size() int { return n.shape.Size() }

// builder records a computation.
type builder struct {
	notimplemented.Builder
	backend *Backend
	name    string
	main    *function
}

var _ compute.Builder = (*builder)(nil)

func newBuilder(b *Backend, name string) *builder {
	w := &builder{backend: b, name: name}
	w.main = &function{builder: w, interned: map[string]*node{}}
	w.main.ErrFn = missing
	return w
}

// missing returns the error for an unsupported operation.
func missing(op compute.OpType) error {
	return fmt.Errorf("backend %s: operation %s: %w", Name, op, compute.ErrNotImplemented)
}

// Name implements compute.Builder.
func (w *builder) Name() string { return w.name }

// Main implements compute.Builder.
func (w *builder) Main() compute.Function { return w.main }

// OpShape implements compute.Builder.
func (w *builder) OpShape(op compute.Value) (shapes.Shape, error) { return w.main.Shape(op) }

// Compile implements compute.Builder.
func (w *builder) Compile() (compute.Executable, error) {
	if !w.main.returned {
		return nil, fmt.Errorf("backend %s: %q returns nothing", Name, w.name)
	}
	return compile(w.backend, w.main)
}

// function is the one function of a computation.
type function struct {
	notimplemented.Function
	builder  *builder
	nodes    []*node
	params   []*node
	names    []string
	outputs  []*node
	returned bool
	interned map[string]*node // nodes by what they compute, to record each only once
}

var _ compute.Function = (*function)(nil)

// Builder implements compute.Function.
func (f *function) Builder() compute.Builder { return f.builder }

// Shape implements compute.Function.
func (f *function) Shape(v compute.Value) (shapes.Shape, error) {
	n, err := f.node("Shape", v)
	if err != nil {
		return shapes.Invalid(), err
	}
	return n.shape, nil
}

// node returns the value as a node of this function.
func (f *function) node(op string, v compute.Value) (*node, error) {
	n, ok := v.(*node)
	if !ok || n == nil {
		return nil, fmt.Errorf("backend %s: %s: %T is not a value of this backend", Name, op, v)
	}
	if n.fn != f {
		return nil, fmt.Errorf("backend %s: %s: a value of another computation", Name, op)
	}
	return n, nil
}

func (f *function) operands(op compute.OpType, values []compute.Value) ([]*node, error) {
	if f.returned {
		return nil, fmt.Errorf("backend %s: %s after Return", Name, op)
	}
	in := make([]*node, len(values))
	for i, v := range values {
		n, err := f.node(op.String(), v)
		if err != nil {
			return nil, err
		}
		in[i] = n
	}
	return in, nil
}

// add records an operation, or returns the node of the same operation recorded before.
func (f *function) add(op compute.OpType, shape shapes.Shape, attr any, in ...*node) (*node, error) {
	if _, ok := types[shape.DType]; !ok {
		return nil, fmt.Errorf("backend %s: %s of %s: %w", Name, op, shape.DType, compute.ErrNotImplemented)
	}
	key := fmt.Sprint(int(op), shape, attr)
	for _, n := range in {
		key += fmt.Sprint(" ", n.id)
	}
	if f.interned[key] == nil {
		f.interned[key] = f.addNew(op, shape, attr, in...)
	}
	return f.interned[key], nil
}

// addNew records an operation without a search for the same one.
func (f *function) addNew(op compute.OpType, shape shapes.Shape, attr any, in ...*node) *node {
	n := &node{op: op, in: in, shape: shape, attr: attr, id: len(f.nodes), fn: f}
	f.nodes = append(f.nodes, n)
	return n
}

// result is add with the error of the shape inference.
func (f *function) result(op compute.OpType, shape shapes.Shape, err error, attr any, in ...*node) (compute.Value, error) {
	if err != nil {
		return nil, fmt.Errorf("backend %s: %s: %w", Name, op, err)
	}
	n, err := f.add(op, shape, attr, in...)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// Parameter implements compute.Function.
func (f *function) Parameter(name string, shape shapes.Shape, sharding *compute.ShardingSpec) (compute.Value, error) {
	if sharding != nil || shape.IsDynamic() {
		return nil, missing(compute.OpTypeParameter)
	}
	n, err := f.add(compute.OpTypeParameter, shape, len(f.params))
	if err != nil {
		return nil, err
	}
	f.params, f.names = append(f.params, n), append(f.names, name)
	return n, nil
}

// constant is the attribute of a Constant: its values.
type constant struct{ *buffer }

// Constant implements compute.Function.
func (f *function) Constant(flat any, dims ...int) (compute.Value, error) {
	if _, err := f.operands(compute.OpTypeConstant, nil); err != nil {
		return nil, err
	}
	kind := reflect.TypeOf(flat)
	if kind == nil || kind.Kind() != reflect.Slice {
		return nil, fmt.Errorf("backend %s: a constant of %T", Name, flat)
	}
	shape := shapes.Make(dtypes.FromGoType(kind.Elem()), dims...)
	buf, err := f.builder.backend.buffer(shape)
	if err == nil {
		err = buf.fill(flat)
	}
	if err != nil {
		return nil, err
	}
	// Small constants are looked up by value, so that each is recorded only once.
	raw := dtypes.UnsafeByteSliceFromAny(buf.flat)
	if len(raw) > maxInterned {
		return f.addNew(compute.OpTypeConstant, shape, constant{buf}), nil
	}
	key := fmt.Sprintf("constant %s %x", shape, raw)
	if n := f.interned[key]; n != nil {
		return n, buf.Finalize()
	}
	f.interned[key] = f.addNew(compute.OpTypeConstant, shape, constant{buf})
	return f.interned[key], nil
}

// maxInterned is the largest size in bytes of a constant that is looked up by value.
const maxInterned = 1024

// Return implements compute.Function.
func (f *function) Return(outputs []compute.Value, shardings []*compute.ShardingSpec) error {
	for _, s := range shardings {
		if s != nil {
			return fmt.Errorf("backend %s: results on several devices: %w", Name, compute.ErrNotImplemented)
		}
	}
	in, err := f.operands(compute.OpTypeInvalid, outputs)
	if err != nil {
		return err
	}
	if len(in) == 0 {
		return fmt.Errorf("backend %s: %q returns nothing", Name, f.builder.name)
	}
	f.outputs, f.returned = in, true
	return nil
}

// uses returns, for each node that an output depends on, the nodes that use it.
func (f *function) uses() map[*node][]*node {
	users := map[*node][]*node{}
	var visit func(n *node)
	visit = func(n *node) {
		for _, in := range n.in {
			if _, known := users[in]; !known {
				users[in] = nil
				visit(in)
			}
			users[in] = append(users[in], n)
		}
	}
	for _, n := range f.outputs {
		if _, known := users[n]; !known {
			users[n] = nil
			visit(n)
		}
	}
	return users
}

// liveNodes returns the nodes that an output depends on, in the order of recording.
func (f *function) liveNodes(users map[*node][]*node) []*node {
	return slices.DeleteFunc(slices.Clone(f.nodes), func(n *node) bool {
		_, ok := users[n]
		return !ok
	})
}
