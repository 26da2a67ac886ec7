package nn

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
)

// openEngine is one engine for all tests: tensors belong to the backend that has
// seen them first.
var openEngine = sync.OnceValues(func() (*engine.Engine, error) { return enginetest.Open() })

// execute runs a graph once on the engine and returns its outputs, flat.
func execute(t testing.TB, f func(in []*Node) []*Node, in ...*tensors.Tensor) [][]float64 {
	t.Helper()
	return compiled(t, f)(in...)
}

// compiled is execute for a graph that runs more than once, which on XLA is compiled for
// longer than it runs.
func compiled(t testing.TB, f func(in []*Node) []*Node) func(in ...*tensors.Tensor) [][]float64 {
	t.Helper()
	e, err := openEngine()
	if err != nil {
		t.Fatal(err)
	}
	exec, err := NewExec(e.Backend(), f)
	if err != nil {
		t.Fatal(err)
	}
	return func(in ...*tensors.Tensor) [][]float64 {
		t.Helper()
		args := make([]any, len(in))
		for i := range in {
			args[i] = in[i]
		}
		out, err := exec.Call(args...)
		if err != nil {
			t.Fatal(err)
		}
		flat := make([][]float64, len(out))
		for i, o := range out {
			err := tensors.ConstFlatData(o, func(data []float32) {
				for _, v := range data {
					flat[i] = append(flat[i], float64(v))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return flat
	}
}

func generator(parts ...uint64) *rand.Rand { return engine.Root(11).Stream("nn test", parts...) }

func normal(rng *rand.Rand, dims ...int) *tensors.Tensor {
	data := make([]float32, shapeSize(dims))
	for i := range data {
		data[i] = float32(rng.NormFloat64())
	}
	return tensors.FromFlatDataAndDimensions(data, dims...)
}

// filledSlice is the mask of a layer as a tensor.
func filledSlice(m RandomInput, key uint64, n int) *tensors.Tensor {
	data := make([]float32, m.Units*n)
	m.Fill(data, key, 0, n)
	return tensors.FromFlatDataAndDimensions(data, m.Units, n)
}

// distributions is a [classes, n] tensor whose columns are random distributions.
func distributions(rng *rand.Rand, classes, n int) *tensors.Tensor {
	data := make([]float32, classes*n)
	for i := range n {
		var total float64
		p := make([]float64, classes)
		for c := range p {
			p[c] = rng.ExpFloat64()
			total += p[c]
		}
		for c := range p {
			data[c*n+i] = float32(p[c] / total)
		}
	}
	return tensors.FromFlatDataAndDimensions(data, classes, n)
}

// checkClose compares with a tolerance relative to the largest value wanted.
func checkClose(t testing.TB, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	scale := 0.0
	for _, v := range want {
		scale = math.Max(scale, math.Abs(v))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance*scale) {
			t.Errorf("%s: element %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}
