package engine

import (
	"math"
	"testing"
	"time"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// TestManyIndependentNodesDoNotDeadlock runs what hangs GoMLX's Go backend at its own
// default settings: many nodes of one graph that could run at once and each want
// workers of the same pool. Two executions at a time, as the library does, on every
// engine without a plugin.
func TestManyIndependentNodesDoNotDeadlock(t *testing.T) {
	for spec, steps := range map[string]int{"lethe": 200, "go": 20} {
		t.Run(spec, func(t *testing.T) {
			e, err := Open(spec)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(e.Close)
			manyNodes(t, e, steps)
		})
	}
}

func manyNodes(t *testing.T, e *Engine, steps int) {
	const size = 256
	exec, err := NewExec(e.Backend(), func(x, image, filter *Node) *Node {
		var parts []*Node
		for k := range 8 {
			parts = append(parts, Sum(Dot(AddScalar(x, float64(k)), x).Product()))
		}
		for k := range 4 {
			parts = append(parts, Sum(Convolve(AddScalar(image, float64(k)), filter).PadSame().Done()))
		}
		total := parts[0]
		for _, p := range parts[1:] {
			total = Add(total, p)
		}
		return total
	})
	if err != nil {
		t.Fatal(err)
	}
	x := tensors.FromShape(shapes.Make(dtypes.Float32, size, size))
	image := tensors.FromShape(shapes.Make(dtypes.Float32, 2, 12, 12, 4))
	filter := tensors.FromShape(shapes.Make(dtypes.Float32, 3, 3, 4, 4))
	for _, in := range []*tensors.Tensor{x, image, filter} { // shared by executions, so uploaded before
		if err := in.MaterializeOnDevice(e.Backend(), true, 0); err != nil {
			t.Fatal(err)
		}
	}
	alive := make(chan error)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for range steps / 2 {
			err := e.Parallel(2, func(int) error {
				out, err := exec.Call(x, image, filter)
				if err == nil {
					err = out[0].FinalizeAll()
				}
				return err
			})
			select {
			case alive <- err:
			case <-stop:
				return
			}
		}
	}()
	for step := range steps / 2 {
		select {
		case err := <-alive:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(2 * time.Minute):
			t.Fatalf("no answer for two minutes after %d steps: deadlock", 2*step)
		}
	}
}

func TestSumOfTwentyMillionOnesIsExact(t *testing.T) {
	const n = 20_000_000
	e := open(t)
	run := func(sum func(x *Node) *Node) float64 {
		out, err := CallOnce(e.Backend(), func(g *Graph) *Node { return sum(Ones(g, shapes.Make(dtypes.Float32, n))) })
		if err != nil {
			t.Fatal(err)
		}
		defer out.FinalizeAll()
		return float64(tensors.ToScalar[float32](out))
	}
	if got := run(Sum); got != n {
		t.Errorf("Sum gives %.0f", got)
	}
	if got := run(Mean); got != 1 {
		t.Errorf("Mean gives %v", got)
	}
	if got := run(ReduceAllSum); got == n {
		t.Log("the library's ReduceAllSum is right here now: Sum may no longer be needed")
	} else {
		t.Logf("the library's ReduceAllSum gives %.0f", got)
	}
}

// One tenth is not a float32, so every addition rounds.
func TestSumOfTwentyMillionTenthsKeepsSixDigits(t *testing.T) {
	const n = 20_000_000
	out, err := CallOnce(open(t).Backend(), func(g *Graph) *Node { return Sum(MulScalar(Ones(g, shapes.Make(dtypes.Float32, n)), 0.1)) })
	if err != nil {
		t.Fatal(err)
	}
	defer out.FinalizeAll()
	if got := float64(tensors.ToScalar[float32](out)); math.Abs(got/(n*float64(float32(0.1)))-1) > 1e-6 {
		t.Errorf("Sum gives %v", got)
	}
}

func TestSumAgreesWithFloat64ForEveryShape(t *testing.T) {
	e := open(t)
	rng := Root(1).Stream("sum")
	for _, dims := range [][]int{{1}, {2}, {3}, {5, 7}, {1, 256}, {4, 3, 11}, {1000}, {1001}} {
		x := tensors.FromShape(shapes.Make(dtypes.Float32, dims...))
		var want, scale float64
		err := tensors.MutableFlatData(x, func(flat []float32) {
			for i := range flat {
				flat[i] = float32(rng.NormFloat64())
				want += float64(flat[i])
				scale += math.Abs(float64(flat[i]))
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := CallOnce(e.Backend(), Sum, x)
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(tensors.ToScalar[float32](out)); out.Shape().Rank() != 0 || math.Abs(got-want) > 1e-6*scale {
			t.Errorf("%v: %v %v, want %v", dims, out.Shape(), got, want)
		}
	}
}

// TestProductsAreThoseOfTheKernels holds what M4 multiplies with against two engines: its bits
// are those of Lethe's, and GoMLX's Go backend, which shares no line with it, comes close.
func TestProductsAreThoseOfTheKernels(t *testing.T) {
	for spec, off := range map[string]float64{"lethe": 0, "go": 1e-6} {
		e, err := Open(spec)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		for _, s := range [][3]int{{1, 1, 1}, {3, 5, 2}, {64, 33, 17}, {128, 200, 128}, {7, 1, 300}} {
			a, b, got := random(s[0], s[2]), random(s[1], s[2]), random(s[0], s[1])
			err := kernels.Multiply(kernels.Pool{Workers: 2}, kernels.RowMajor(got.Data, s[0], s[1]),
				kernels.RowMajor(a.Data, s[0], s[2]), kernels.RowMajor(b.Data, s[1], s[2]).T(), false)
			if err != nil {
				t.Fatal(err)
			}
			of := func(m array.Matrix[float32]) *tensors.Tensor {
				return tensors.FromFlatDataAndDimensions(m.Data, m.Rows, m.Cols)
			}
			out, err := CallOnce(e.Backend(), func(a, b *Node) *Node { return Dot(a, b).General([]int{1}, nil, []int{1}, nil) }, of(a), of(b))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tensors.MustCopyFlatData[float32](out) {
				scale := 0.0
				for k, v := range a.Row(i / s[1]) {
					scale += math.Abs(float64(v) * float64(b.Row(i % s[1])[k]))
				}
				if math.Abs(float64(got.Data[i])-float64(want)) > off*scale {
					t.Errorf("%v: number %d is %v, on engine %s %v", s, i, got.Data[i], spec, want)
				}
			}
		}
	}
}

func random(rows, cols int) array.Matrix[float32] {
	rng := Root(2).Stream("random", uint64(rows), uint64(cols))
	m := array.New[float32](rows, cols)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}
