// Inner products between activations, with the same bits for every number of workers.

package sde

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// Matrix is a set of activations: row i is the flattened activation of record i.
type Matrix = array.Matrix[float64]

// products returns all inner products between the rows of a and those of b, or within a if b is nil
// (then the matrix is symmetric, and only its lower triangle is filled).
//
// An inner product is one chain of fused multiply-adds over the columns in their order, whatever
// the blocking. It is the same for every processor, every number of workers and both orders of the
// arguments, and two equal rows have exactly the product of each with itself. The mean row is not
// removed; callers centre first.
func products(a, b *Matrix, workers int) Matrix {
	p := kernels.Pool{Workers: cmp.Or(workers, runtime.GOMAXPROCS(0))}
	if b == nil {
		out := array.New[float64](a.Rows, a.Rows)
		must(kernels.Gram(p, view(&out), view(a)))
		return out
	}
	out := array.New[float64](a.Rows, b.Rows)
	must(kernels.Multiply(p, view(&out), view(a), view(b).T(), false))
	return out
}

func view(m *Matrix) kernels.Matrix[float64] { return kernels.RowMajor(m.Data, m.Rows, m.Cols) }

// must panics on an error of a product whose shapes were checked.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// mirror copies the lower triangle to the upper one, in blocks.
func mirror(m *Matrix, workers int) {
	forEach(blockStarts(m.Rows, blockRows), workers, func(i int) {
		for j := 0; j <= i; j += blockRows {
			for r := i; r < min(i+blockRows, m.Rows); r++ {
				row := m.Row(r)
				for c := j; c < min(j+blockRows, r); c++ {
					m.Data[c*m.Cols+r] = row[c]
				}
			}
		}
	})
}

// blockRows is the number of rows of a task.
const blockRows = 64

// blockStarts returns 0, step, ... below n.
func blockStarts(n, step int) []int {
	var out []int
	for i := 0; i < n; i += step {
		out = append(out, i)
	}
	return out
}

// forEach calls use with every item, on that many goroutines; 0 means one per processor.
func forEach[T any](items []T, workers int, use func(T)) {
	workers = cmp.Or(workers, runtime.GOMAXPROCS(0))
	if workers = min(workers, len(items)); workers <= 1 {
		for _, it := range items {
			use(it)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for k := next.Add(1) - 1; k < int64(len(items)); k = next.Add(1) - 1 {
				use(items[k])
			}
		})
	}
	wg.Wait()
}
