package backend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// Rows that are looked up, and sums of updates into rows that are named many times, are those of a
// loop, with any number of workers, for short and long rows, and for operands in another order.
func TestLookupsAreThoseOfALoop(t *testing.T) {
	for _, d := range []struct{ rows, width, n int }{{7, 5, 9}, {50, 400, 300}, {1000, 1, 3000}, {3, 70_000, 4}} {
		for _, transposed := range []bool{false, true} {
			for _, workers := range []int{1, 3} {
				t.Run(fmt.Sprintf("%d x %d, %d, transposed %v, %d workers", d.rows, d.width, d.n, transposed, workers), func(t *testing.T) {
					checkLookups(t, Open(workers), d.rows, d.width, d.n, transposed)
				})
			}
		}
	}
}

func checkLookups(t *testing.T, b *Backend, rows, width, n int, transposed bool) {
	rng := rand.New(rand.NewPCG(3, 3))
	x, updates, numbers := normals(rows*width), normals(n*width), make([]float32, n)
	for i := range numbers {
		numbers[i] = float32(rng.IntN(rows))
	}
	looked, summed := make([]float32, n*width), slices.Clone(x)
	for i, row := range numbers {
		for k := range width {
			looked[i*width+k] = x[int(row)*width+k]
			summed[int(row)*width+k] += updates[i*width+k]
		}
	}
	matrix := func(f compute.Function, v compute.Value, rows int) compute.Value {
		if !transposed {
			return must(f.Reshape(v, rows, width))
		}
		return must(f.Transpose(must(f.Reshape(v, width, rows)), 1, 0))
	}
	index := func(f compute.Function, v compute.Value) compute.Value {
		return must(f.Reshape(must(f.ConvertDType(v, dtypes.Int32)), n, 1))
	}
	given := func(m []float32, rows int) []float32 {
		if !transposed {
			return m
		}
		out := make([]float32, len(m))
		for i := range rows {
			for k := range width {
				out[k*rows+i] = m[i*width+k]
			}
		}
		return out
	}
	got := runGraph(t, b, func(f compute.Function, in []compute.Value) (compute.Value, error) {
		return f.Gather(matrix(f, in[0], rows), index(f, in[1]), 1, []int{1}, []int{0}, []int{0}, []int{1, width}, false)
	}, given(x, rows), numbers)
	if !slices.Equal(got, looked) {
		t.Error("rows that are looked up are not those of a loop")
	}
	got = runGraph(t, b, func(f compute.Function, in []compute.Value) (compute.Value, error) {
		return f.ScatterSum(matrix(f, in[0], rows), index(f, in[1]), matrix(f, in[2], n), 1, []int{1}, []int{0}, []int{0}, false, false)
	}, given(x, rows), numbers, given(updates, n))
	if !slices.Equal(got, summed) {
		t.Error("sums of updates are not those of a loop")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
