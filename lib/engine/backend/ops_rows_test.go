package backend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// A matrix plus rows that are scattered over zeros has the bits of that sum, whether the matrix is computed in place or
// copied, and whether the sum is a result or used further. Rows that are named several times are added up first, and
// rows outside are left out.
func TestSumsOfAMatrixAndScatteredRowsHaveTheirBits(t *testing.T) {
	for _, d := range []struct{ rows, width, n int }{{7, 5, 9}, {50, 400, 300}, {3, 70_000, 4}} {
		rng := rand.New(rand.NewPCG(5, 5))
		a, b, updates, numbers := normals(d.rows*3), normals(3*d.width), normals(d.n*d.width), make([]float32, d.n)
		sums := make([]float32, d.rows*d.width)
		for i := range numbers {
			row := rng.IntN(d.rows + 1)
			numbers[i] = float32(row)
			for k := range d.width {
				if row < d.rows {
					sums[row*d.width+k] += updates[i*d.width+k]
				}
			}
		}
		for _, workers := range []int{1, 3} {
			product := runGraph(t, Open(workers), func(f compute.Function, in []compute.Value) (compute.Value, error) {
				return matrixProduct(f, in, d.rows, d.width), nil
			}, a, b)
			for name, graph := range map[string]func(f compute.Function, x, sum compute.Value) (out compute.Value, sign float32){
				"computed in place": func(f compute.Function, x, sum compute.Value) (compute.Value, float32) { return must(f.Add(x, sum)), 1 },
				"the other order":   func(f compute.Function, x, sum compute.Value) (compute.Value, float32) { return must(f.Add(sum, x)), 1 },
				"copied": func(f compute.Function, x, sum compute.Value) (compute.Value, float32) {
					return must(f.Add(must(f.Neg(x)), sum)), -1
				},
				"used further": func(f compute.Function, x, sum compute.Value) (compute.Value, float32) {
					return must(f.Neg(must(f.Neg(must(f.Add(x, sum)))))), 1
				},
				"x used too": func(f compute.Function, x, sum compute.Value) (compute.Value, float32) {
					return must(f.Max(must(f.Add(x, sum)), must(f.Add(must(f.Sub(x, x)), must(f.Add(x, sum)))))), 1
				},
			} {
				t.Run(fmt.Sprintf("%d x %d, %d, %d workers, %s", d.rows, d.width, d.n, workers, name), func(t *testing.T) {
					var sign float32
					got := runGraph(t, Open(workers), func(f compute.Function, in []compute.Value) (compute.Value, error) {
						index := must(f.Reshape(must(f.ConvertDType(in[2], dtypes.Int32)), d.n, 1))
						zeros := must(f.BroadcastInDim(must(f.Constant([]float32{0})), matrixShape(d.rows, d.width), nil))
						sum := must(f.ScatterSum(zeros, index, must(f.Reshape(in[3], d.n, d.width)), 1, []int{1}, []int{0}, []int{0}, false, false))
						var out compute.Value
						out, sign = graph(f, matrixProduct(f, in, d.rows, d.width), sum)
						return out, nil
					}, a, b, numbers, updates)
					want := make([]float32, len(sums))
					for i := range want {
						want[i] = sign*product[i] + sums[i]
					}
					if !slices.Equal(got, want) {
						t.Error("not the bits of the sum")
					}
				})
			}
		}
	}
}

// A matrix that is read besides keeps its numbers: the sum is not written over it.
func TestAMatrixThatIsReadBesidesIsNotOverwritten(t *testing.T) {
	const rows, width = 6, 5
	b := Open(2)
	w := newBuilder(b, "rows")
	f := w.Main()
	var in []compute.Value
	for _, n := range []int{rows * 3, 3 * width, 4 * width} {
		in = append(in, must(f.Parameter(fmt.Sprint("x", len(in)), shapes.Make(dtypes.Float32, n), nil)))
	}
	x := matrixProduct(f, in, rows, width)
	zeros := must(f.BroadcastInDim(must(f.Constant([]float32{0})), matrixShape(rows, width), nil))
	index, updates := must(f.Constant([]int32{5, 1, 1, 0}, 4, 1)), must(f.Reshape(in[2], 4, width))
	sum := must(f.ScatterSum(zeros, index, updates, 1, []int{1}, []int{0}, []int{0}, false, false))
	total := must(f.Add(x, sum))
	if err := f.Return([]compute.Value{total, must(f.Neg(must(f.Neg(x)))), must(f.Sub(total, x))}, nil); err != nil {
		t.Fatal(err)
	}
	var buffers []compute.Buffer
	for _, n := range []int{rows * 3, 3 * width, 4 * width} {
		buffers = append(buffers, must(b.BufferFromFlatData(0, normals(n), shapes.Make(dtypes.Float32, n))))
	}
	out := must(must(compile(b, w.main)).Execute(buffers, nil, 0))
	flat := func(k int) []float32 { return must(out[k].Data()).([]float32) }
	added, u := make([]float32, rows*width), normals(4*width)
	for k := range width {
		added[5*width+k], added[width+k], added[k] = u[k], u[width+k]+u[2*width+k], u[3*width+k]
	}
	for i, v := range flat(1) {
		if flat(0)[i] != v+added[i] || flat(2)[i] != v+added[i]-v {
			t.Errorf("element %d: %v, and %v was added to %v", i, flat(0)[i], added[i], v)
		}
	}
}

func matrixShape(rows, cols int) shapes.Shape { return shapes.Make(dtypes.Float32, rows, cols) }

func matrixProduct(f compute.Function, in []compute.Value, rows, width int) compute.Value {
	a, b := must(f.Reshape(in[0], rows, 3)), must(f.Reshape(in[1], 3, width))
	return must(f.DotGeneral(a, []int{1}, nil, b, []int{0}, nil, compute.DotGeneralConfig{}))
}

// The sum is made of the rows that occur, not of a matrix of zeros.
func TestOnlyRowsThatOccurAreAdded(t *testing.T) {
	b := Open(1)
	w := newBuilder(b, "rows")
	f := w.Main()
	x, updates := must(f.Parameter("x", matrixShape(9, 4), nil)), must(f.Parameter("u", matrixShape(3, 4), nil))
	index := must(f.Constant([]int32{8, 2, 2}, 3, 1))
	zeros := must(f.BroadcastInDim(must(f.Constant([]float32{0})), matrixShape(9, 4), nil))
	sum := must(f.ScatterSum(zeros, index, updates, 1, []int{1}, []int{0}, []int{0}, false, false))
	if err := f.Return([]compute.Value{must(f.Add(x, sum))}, nil); err != nil {
		t.Fatal(err)
	}
	e := must(compile(b, w.main))
	if n := len(e.steps); n != 3 { // copies of x and of the updates, and the sum
		t.Errorf("%d steps, want 3", n)
	}
	if _, ok := e.steps[len(e.steps)-1].(addRows); !ok {
		t.Errorf("the last step is a %T", e.steps[len(e.steps)-1])
	}
}
