package onnx

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	scopes "github.com/gomlx/gomlx/ml/model"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
)

// rows is the number of records of one execution where the file leaves it free.
const rows = 256

// Run implements outside.Network, for the values named by Output, Embedding and
// Layers. One with more axes is laid out as records are.
//
// Memory: the results, and the activations of one batch of records.
func (m *Model) Run(ctx context.Context, e *engine.Engine, x array.Rows, names ...string) (out map[string]array.Matrix[float32], err error) {
	defer refuse(m.path, &err)
	n, cols := x.Shape()
	if cols != m.input.size() {
		return nil, fmt.Errorf("its input %q takes records of %d values %v; these have %d", m.input.Name, m.input.size(), m.input.Dims, cols)
	}
	for _, name := range names {
		if name != m.Output() && !slices.ContainsFunc(m.layers, func(l Layer) bool { return l.Name == name }) {
			return nil, fmt.Errorf("has no value %q", name)
		}
	}
	run, err := m.compile(e, names)
	if err != nil {
		return nil, err
	}
	defer run.Finalize()
	out = map[string]array.Matrix[float32]{}
	batch := m.input.Batch
	if batch == 0 {
		batch = min(rows, n)
	}
	for from := 0; from < n; from += batch {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.batch(run, x, from, batch, names, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compile makes one execution of the network that returns the values by name.
func (m *Model) compile(e *engine.Engine, names []string) (*scopes.Exec, error) {
	store := scopes.NewStore()
	if err := m.parsed.VariablesToScope(store.RootScope()); err != nil {
		return nil, err
	}
	return scopes.NewExec(e.Backend(), store, func(scope *scopes.Scope, in []*graph.Node) []*graph.Node {
		found := m.parsed.CallGraph(scope, in[0].Graph(), map[string]*graph.Node{m.input.Name: in[0]}, names...)
		for i, v := range found {
			if v.Rank() == 0 || v.Shape().Dimensions[0] != in[0].Shape().Dimensions[0] {
				panic(fmt.Errorf("the value %q of shape %v has no axis of records", names[i], v.Shape()))
			}
			records := v.Shape().Dimensions[0]
			found[i] = graph.ConvertDType(graph.Reshape(v, records, v.Shape().Size()/records), dtypes.Float32)
		}
		return found
	})
}

// batch runs records from one on and appends what is found to out. A last batch
// that is not full is filled with its last record.
func (m *Model) batch(run *scopes.Exec, x array.Rows, from, size int, names []string, out map[string]array.Matrix[float32]) error {
	n, _ := x.Shape()
	in, err := m.tensor(x, from, size)
	if err != nil {
		return err
	}
	found, err := run.Exec(in)
	if err != nil {
		return err
	}
	keep := min(size, n-from)
	for i, name := range names {
		values := tensors.MustCopyFlatData[float32](found[i])
		cols := len(values) / size
		if out[name].Data == nil {
			out[name] = array.New[float32](n, cols)
		}
		copy(out[name].Data[from*cols:(from+keep)*cols], values[:keep*cols])
		found[i].FinalizeAll()
	}
	return nil
}

// tensor holds size records from one on, in the type that the network takes.
func (m *Model) tensor(x array.Rows, from, size int) (*tensors.Tensor, error) {
	n, cols := x.Shape()
	dims := append([]int{size}, m.input.Dims...)
	buffer := make([]float64, cols)
	flat := make([]float64, 0, size*cols)
	for i := range size {
		flat = append(flat, x.Read(buffer, min(from+i, n-1))...)
	}
	_, shapes := m.parsed.Inputs()
	switch shapes[0].DType {
	case dtypes.Float32:
		return finite[float32](flat, from, cols, dims)
	case dtypes.Float64:
		return finite[float64](flat, from, cols, dims)
	case dtypes.Int64:
		return whole[int64](flat, from, cols, dims)
	case dtypes.Int32:
		return whole[int32](flat, from, cols, dims)
	}
	return nil, fmt.Errorf("its input %q is of type %s; float32, float64, int32 or int64 are read", m.input.Name, shapes[0].DType)
}

// finite refuses what is not finite in the type that the network takes: it would
// spread through its values.
func finite[T float32 | float64](flat []float64, from, cols int, dims []int) (*tensors.Tensor, error) {
	out := make([]T, len(flat))
	for i, v := range flat {
		out[i] = T(v)
		if f := float64(out[i]); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("its input takes finite numbers of type %T, and column %d of record %d is %v", out[i], i%cols, from+i/cols, v)
		}
	}
	return tensors.FromFlatDataAndDimensions(out, dims...), nil
}

var errWhole = errors.New("its input takes whole numbers")

func whole[T int32 | int64](flat []float64, from, cols int, dims []int) (*tensors.Tensor, error) {
	out := make([]T, len(flat))
	for i, v := range flat {
		if v != math.Trunc(v) || float64(T(v)) != v {
			return nil, fmt.Errorf("%w, and column %d of record %d is %v", errWhole, i%cols, from+i/cols, v)
		}
		out[i] = T(v)
	}
	return tensors.FromFlatDataAndDimensions(out, dims...), nil
}
