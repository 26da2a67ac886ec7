package sde

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/lethe-ml/lethe/lib/array"
)

// Matrix is a set of activations: row i is the flattened activation of record i.
type Matrix = array.Matrix[float64]

const (
	panel = 8    // rows that are packed together, and side of the smallest block
	depth = 256  // columns at a time: two packed panels stay in the first cache
	group = 16   // panels per side of a task: what it reads and adds to stays in the second
	sweep = 1024 // columns that are packed together
)

// products returns all inner products between the rows of a and those of b, or
// within a when b is nil (then the matrix is symmetric, and only its lower
// triangle is filled).
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
	tiles := tasks(panels(a.Rows), panels(b.Rows), symmetric)
	for from := 0; from < a.Cols; from += sweep {
		to := min(from+sweep, a.Cols)
		pa := pack(a, from, to, workers)
		pb := pa
		if !symmetric {
			pb = pack(b, from, to, workers)
		}
		each(tiles, workers, func(t task) { t.run(pa, pb, to-from, &out, from == 0, symmetric) })
	}
	return out
}

func panels(rows int) int { return (rows + panel - 1) / panel }

// pack copies the columns from ... to in panels: the values of one column for
// the eight rows of a panel lie side by side. Missing rows are zero.
func pack(m *Matrix, from, to, workers int) []float64 {
	width := to - from
	out := make([]float64, panels(m.Rows)*width*panel)
	each(starts(m.Rows, side), workers, func(first int) {
		for i := first; i < min(first+side, m.Rows); i++ {
			dst := out[(i/panel)*width*panel+i%panel:]
			for k, v := range m.Row(i)[from:to] {
				dst[k*panel] = v
			}
		}
	})
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

// block is a square of products, of two panels of rows.
type block [panel * panel]float64

// tile is what a task adds to: blocks that lie side by side. The last column
// takes what a pair of blocks has too many.
type tile [group][group + 1]block

// run adds the products of packed columns to a part of out.
func (t task) run(a, b []float64, width int, out *Matrix, first, symmetric bool) {
	var sums tile
	if !first {
		t.rowsOf(out, symmetric, func(r int, row []float64) { sums.load(r, row) })
	}
	for from := 0; from < width; from += depth {
		to := min(from+depth, width)
		part := func(x []float64, k int) []float64 { return x[(k*width+from)*panel : (k*width+to)*panel] }
		for i := range t.rows {
			cols := t.cols
			if symmetric {
				cols = min(cols, t.i+i-t.j+1)
			}
			for j := 0; j < cols; j += 2 {
				next, second := part(b, t.j+min(j+1, t.cols-1)), &sums[i][j+1]
				if j+1 == cols {
					second = &sums[i][group]
				}
				multiply(part(a, t.i+i), part(b, t.j+j), next, &sums[i][j], second)
			}
		}
	}
	t.rowsOf(out, symmetric, func(r int, row []float64) { sums.store(r, row) })
}

// rowsOf visits the rows of out that belong to a task, of a symmetric matrix up
// to the diagonal.
func (t task) rowsOf(out *Matrix, symmetric bool, use func(r int, row []float64)) {
	for r := range min(t.rows*panel, out.Rows-t.i*panel) {
		end := min((t.j+t.cols)*panel, out.Cols)
		if symmetric {
			end = min(end, t.i*panel+r+1)
		}
		use(r, out.Row(t.i*panel + r)[t.j*panel:end])
	}
}

func (s *tile) load(r int, row []float64) {
	for j := 0; j < len(row); j += panel {
		copy(s[r/panel][j/panel][r%panel*panel:][:panel], row[j:])
	}
}

func (s *tile) store(r int, row []float64) {
	for j := 0; j < len(row); j += panel {
		copy(row[j:], s[r/panel][j/panel][r%panel*panel:][:panel])
	}
}

// mirror copies the lower triangle to the upper one, in blocks.
func mirror(m *Matrix, workers int) {
	each(starts(m.Rows, side), workers, func(i int) {
		for j := 0; j <= i; j += side {
			for r := i; r < min(i+side, m.Rows); r++ {
				row := m.Row(r)
				for c := j; c < min(j+side, r); c++ {
					m.Data[c*m.Cols+r] = row[c]
				}
			}
		}
	})
}

// side is the number of rows that are one piece of work.
const side = 64

// starts returns 0, step, ... below n.
func starts(n, step int) []int {
	var out []int
	for i := 0; i < n; i += step {
		out = append(out, i)
	}
	return out
}

// each hands every item to use, on that many goroutines; 0 means one per
// processor.
func each[T any](items []T, workers int, use func(T)) {
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
