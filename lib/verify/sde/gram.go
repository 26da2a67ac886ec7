package sde

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/lethe-ml/lethe/lib/array"
)

// Matrix is a set of activations: row i is the flattened activation of record i.
type Matrix = array.Matrix[float64]

const (
	panel = 8   // rows that are packed together, and side of the smallest block
	depth = 256 // columns per pass: two packed panels stay in the first cache
	group = 32  // panels per task: 0.5 MiB, so that they stay in the second
)

// products returns all inner products between the rows of a and those of b, or
// within a when b is nil (then the matrix is symmetric).
//
// An inner product is one chain of fused multiply-adds over the columns in their
// order. That is the definition, whatever the blocking: it is the same for every
// build, every number of workers and both ways round, and two equal rows have
// exactly the product of each with itself. The mean row of a and b together is
// not removed; callers centre first.
func products(a, b *Matrix, workers int) Matrix {
	symmetric := b == nil
	if symmetric {
		b = a
	}
	out := array.New[float64](a.Rows, b.Rows)
	for from := 0; from < a.Cols; from += depth {
		to := min(from+depth, a.Cols)
		pa := pack(a, from, to)
		pb := pa
		if !symmetric {
			pb = pack(b, from, to)
		}
		each(tasks(panels(a.Rows), panels(b.Rows), symmetric), workers, func(t task) {
			t.run(pa, pb, to-from, &out, symmetric)
		})
	}
	if symmetric {
		mirror(&out)
	}
	return out
}

func panels(rows int) int { return (rows + panel - 1) / panel }

// pack copies the columns from ... to in panels: the values of one column for
// the eight rows of a panel lie side by side. Missing rows are zero.
func pack(m *Matrix, from, to int) []float64 {
	width := to - from
	out := make([]float64, panels(m.Rows)*width*panel)
	for i := range m.Rows {
		dst := out[(i/panel)*width*panel+i%panel:]
		for k, v := range m.Row(i)[from:to] {
			dst[k*panel] = v
		}
	}
	return out
}

// task is a square group of panels.
type task struct{ i, j, rows, cols int }

func tasks(rows, cols int, symmetric bool) []task {
	var out []task
	for i := 0; i < rows; i += group {
		for j := 0; j < cols; j += group {
			if symmetric && j > i {
				break
			}
			out = append(out, task{i, j, min(group, rows-i), min(group, cols-j)})
		}
	}
	return out
}

func (t task) run(a, b []float64, width int, out *Matrix, symmetric bool) {
	size := width * panel
	var block [panel * panel]float64
	for i := t.i; i < t.i+t.rows; i++ {
		for j := t.j; j < t.j+t.cols; j++ {
			if symmetric && j > i {
				break
			}
			load(&block, out, i*panel, j*panel)
			multiply(a[i*size:(i+1)*size], b[j*size:(j+1)*size], &block)
			store(&block, out, i*panel, j*panel)
		}
	}
}

func load(block *[panel * panel]float64, m *Matrix, i, j int) {
	for r := range min(panel, m.Rows-i) {
		copy(block[r*panel:(r+1)*panel], m.Row(i + r)[j:min(j+panel, m.Cols)])
	}
}

func store(block *[panel * panel]float64, m *Matrix, i, j int) {
	for r := range min(panel, m.Rows-i) {
		copy(m.Row(i + r)[j:min(j+panel, m.Cols)], block[r*panel:])
	}
}

// mirror copies the lower triangle to the upper one, in blocks.
func mirror(m *Matrix) {
	const side = 64
	for i := 0; i < m.Rows; i += side {
		for j := 0; j <= i; j += side {
			for r := i; r < min(i+side, m.Rows); r++ {
				row := m.Row(r)
				for c := j; c < min(j+side, r); c++ {
					m.Data[c*m.Cols+r] = row[c]
				}
			}
		}
	}
}

// each hands every item to use, on that many goroutines; 0 means one per
// processor.
func each[T any](items []T, workers int, use func(T)) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
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
