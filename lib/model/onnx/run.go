// Running a network on records.

package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// rows is the number of records per execution where the file leaves it free.
const rows = 256

// maxExecutionBytes is the memory that an execution may need before it gets fewer records.
const maxExecutionBytes = 1 << 30

// Run implements outside.Network, for the values named by Output, Outputs, Embedding and
// Layers. A value with more axes is flattened to one row per record.
func (m *Model) Run(ctx context.Context, e *engine.Engine, x array.Rows, names ...string) (out map[string]array.Matrix[float32], err error) {
	defer wrapError(m.path, &err)
	n, cols := x.Shape()
	if cols != m.input.size() {
		return nil, fmt.Errorf("its input %q takes records of %d values %v; these have %d", m.input.name, m.input.size(), m.input.dims, cols)
	}
	for _, name := range names {
		if !slices.Contains(m.Outputs(), name) && !slices.ContainsFunc(m.layers, func(l Layer) bool { return l.Name == name }) {
			return nil, fmt.Errorf("has no value %q", name)
		}
	}
	r := &run{m: m, e: e, x: x, names: names, weights: &weights{map[string]*value{}, map[*value]*tensors.Tensor{}}}
	if n == 0 {
		return map[string]array.Matrix[float32]{}, nil
	}
	whole, err := r.fitProgram(n)
	if err != nil {
		return nil, err
	}
	defer whole.close()
	out, err = r.runRecords(ctx, whole, order(n), whole.records)
	if err != nil {
		return nil, err
	}
	return out, r.checkIndependence(ctx, whole, out)
}

// run holds the records and the names of one call.
type run struct {
	m       *Model
	e       *engine.Engine
	x       array.Rows
	names   []string
	weights *weights
}

// program is the network as a graph for one number of records.
type program struct {
	*builder
	records int
	widths  []int // of the requested values
	results []*graph.Node
	left    bool // an execution was left to itself
}

// fitProgram returns the program for the number of records to run at once.
func (r *run) fitProgram(n int) (*program, error) {
	records := r.m.input.batch
	if records > 0 {
		return r.compile(records)
	}
	records = min(rows, n)
	for {
		p := r.attempt(records)
		switch {
		case p == nil:
			records = (records + 3) / 4
			continue
		case p.peak <= maxExecutionBytes || records == 1:
			return p, p.compile()
		}
		p.close()
		records = max(1, min(records-1, int(int64(records)*maxExecutionBytes/p.peak)))
	}
}

// attempt builds a program, or returns nil where fewer records may fit.
func (r *run) attempt(records int) (p *program) {
	defer func() {
		if v := recover(); v != nil {
			if why, ok := v.(refusal); !ok || !why.tooMuch || records == 1 {
				panic(v)
			}
		}
	}()
	return r.build(records)
}

func (r *run) compile(records int) (*program, error) {
	p := r.build(records)
	return p, p.compile()
}

// build translates the network for a number of records.
func (r *run) build(records int) *program {
	in := r.m.input
	dims := append([]int{records}, in.dims...)
	checkSize(dims)
	b := &builder{m: r.m, opsets: r.m.file.opsets, weights: r.weights, values: map[string]*value{}, nodes: map[*value]*graph.Node{}}
	b.g = graph.NewGraph(r.e.Backend(), "onnx")
	p := &program{builder: b, records: records}
	x := graph.Parameter(b.g, "records", shapes.Make(in.elem.dtype(), dims...))
	if in.elem.isHalfFloat() {
		x = b.roundHalf(in.elem, x)
	}
	b.values[in.name] = &value{elem: in.elem, dims: dims, node: x}
	var found []*graph.Node
	for i, v := range b.translate(r.names) {
		if v.rank() == 0 || v.dims[0] != records || v.size() == 0 {
			fail("the value %q of shape %v has no axis of records", r.names[i], v.dims)
		}
		width := v.size() / records
		p.widths = append(p.widths, width)
		found = append(found, graph.ConvertDType(graph.Reshape(b.nodeOf(v), records, width), dtypes.Float32))
	}
	for _, c := range b.checks {
		found = append(found, c.holds)
	}
	b.count()
	p.results = found
	return p
}

func (p *program) compile() error { return p.g.Compile(p.results...) }

// order returns 0 to n-1.
func order(n int) []int { return iotaList(n) }

// runRecords runs records in the given order, at records per execution, and stores the
// values of each at its position in that order. An incomplete execution is filled with the
// last record.
func (r *run) runRecords(ctx context.Context, p *program, order []int, at int) (map[string]array.Matrix[float32], error) {
	out := map[string]array.Matrix[float32]{}
	for i, name := range r.names {
		if _, err := product([]int{len(order), p.widths[i], 4}); err != nil {
			return nil, fmt.Errorf("the value %q of %d numbers for %d records is too large (at most %d GiB)", name, p.widths[i], len(order), maxBytes>>30)
		}
		out[name] = array.New[float32](len(order), p.widths[i])
	}
	for from := 0; from < len(order); from += at {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in, err := r.tensor(order[from:min(from+at, len(order))], p.records)
		if err != nil {
			return nil, err
		}
		if err := r.runBatch(ctx, p, in, from, min(at, len(order)-from), out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// runBatch runs one execution and writes the values of its first keep records to out,
// starting at row from.
func (r *run) runBatch(ctx context.Context, p *program, in *tensors.Tensor, from, keep int, out map[string]array.Matrix[float32]) error {
	found, err := p.run(ctx, in)
	if err != nil {
		return err
	}
	p.checkHolds(found[len(r.names):])
	for i, name := range r.names {
		values, cols := tensors.MustCopyFlatData[float32](found[i]), p.widths[i]
		copy(out[name].Data[from*cols:(from+keep)*cols], values[:keep*cols])
	}
	for _, t := range found {
		t.FinalizeAll()
	}
	return nil
}

// run runs one execution. If the context ends first the execution and the program are left
// to finish on their own.
func (p *program) run(ctx context.Context, in *tensors.Tensor) (found []*tensors.Tensor, err error) {
	inputs := []any{in}
	for _, t := range p.params {
		inputs = append(inputs, t)
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				done <- errors.New(firstLine(fmt.Sprint(v)))
			}
		}()
		found = p.g.Run(inputs...)
		done <- nil
	}()
	select {
	case err := <-done:
		return found, err
	case <-ctx.Done():
		p.left = true
		return nil, ctx.Err()
	}
}

// close releases the program, unless an execution is still running.
func (p *program) close() {
	if !p.left {
		p.g.Finalize()
	}
}

// tensor returns the records with these numbers in the network's input type, filled up with
// the last one.
func (r *run) tensor(order []int, size int) (*tensors.Tensor, error) {
	_, cols := r.x.Shape()
	buffer := make([]float64, cols)
	flat := make([]float64, 0, size*cols)
	for i := range size {
		flat = append(flat, r.x.Read(buffer, order[min(i, len(order)-1)])...)
	}
	return r.convertRecords(flat, func(i int) int { return order[min(i, len(order)-1)] }, size)
}

// convertRecords converts records to the network's input type; number is a record's own
// number.
func (r *run) convertRecords(flat []float64, number func(i int) int, size int) (*tensors.Tensor, error) {
	in := r.m.input
	dims := append([]int{size}, in.dims...)
	place := func(i int) string {
		cols := in.size()
		return fmt.Sprintf("column %d of record %d is %v", i%cols, number(i/cols), flat[i])
	}
	switch in.elem.dtype() {
	case dtypes.Float32:
		return checkFinite[float32](flat, dims, place)
	case dtypes.Float64:
		return checkFinite[float64](flat, dims, place)
	case dtypes.Int64:
		return checkWhole[int64](flat, dims, place)
	case dtypes.Int32:
		return checkWhole[int32](flat, dims, place)
	case dtypes.Int16:
		return checkWhole[int16](flat, dims, place)
	case dtypes.Int8:
		return checkWhole[int8](flat, dims, place)
	case dtypes.Uint64:
		return checkWhole[uint64](flat, dims, place)
	case dtypes.Uint32:
		return checkWhole[uint32](flat, dims, place)
	case dtypes.Uint16:
		return checkWhole[uint16](flat, dims, place)
	}
	small, err := checkWhole[uint8](flat, dims, place)
	if err != nil || in.elem != bools {
		return small, err
	}
	var yes []bool
	for i, v := range flat {
		if v > 1 {
			return nil, fmt.Errorf("its input takes 0 and 1, and %s", place(i))
		}
		yes = append(yes, v == 1)
	}
	return tensors.FromFlatDataAndDimensions(yes, dims...), nil
}

// checkFinite refuses values that are not finite in the network's input type.
func checkFinite[T float32 | float64](flat []float64, dims []int, place func(i int) string) (*tensors.Tensor, error) {
	out := make([]T, len(flat))
	for i, v := range flat {
		out[i] = T(v)
		if f := float64(out[i]); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("its input takes finite numbers of type %T, and %s", out[i], place(i))
		}
	}
	return tensors.FromFlatDataAndDimensions(out, dims...), nil
}

func checkWhole[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](
	flat []float64, dims []int, place func(i int) string,
) (*tensors.Tensor, error) {
	out := make([]T, len(flat))
	for i, v := range flat {
		if v != math.Trunc(v) || float64(T(v)) != v {
			return nil, fmt.Errorf("its input takes whole numbers of type %T, and %s", T(0), place(i))
		}
		out[i] = T(v)
	}
	return tensors.FromFlatDataAndDimensions(out, dims...), nil
}
