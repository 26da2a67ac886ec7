// Matrices are read only where memory has room for them.

package cells

import (
	"fmt"
	"runtime/debug"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/memory"
)

// freeBytes returns the memory that this process can still take. Tests have their own.
var freeBytes = memory.Free

// checkedBytes is the size from which memory is compared with what is free. Tests lower it.
var checkedBytes = int64(64 << 20)

// fits reports whether so many bytes of new memory can be had, and otherwise how many are free. What
// is free is not known on every system.
func fits(bytes int64) (free int64, ok bool) {
	if bytes < checkedBytes {
		return 0, true
	}
	free, known := freeBytes()
	if !known || bytes <= free {
		return free, true
	}
	debug.FreeOSMemory() // garbage counts as free
	free, known = freeBytes()
	return free, !known || bytes <= free
}

// storedBytes is the memory of a sparse matrix: a value and a column for each element, and where a
// row starts.
func storedBytes(values, rows int) int64 { return 8*int64(values) + 8*int64(rows) }

// checkFits returns an error if a matrix with so many values other than 0 is larger than the memory.
func checkFits(path string, rows, cols, values int) error {
	need := storedBytes(values, rows)
	if free, ok := fits(need); !ok {
		return fmt.Errorf("%s: a matrix of %d x %d with %d values other than 0 takes %.3g GB, and %.3g GB are free",
			path, rows, cols, values, float64(need)/1e9, float64(free)/1e9)
	}
	return nil
}

// sparseRows makes a sparse matrix of dense rows that come in pieces.
type sparseRows struct {
	path string
	s    array.Sparse[float32]
}

// add appends whole rows.
func (m *sparseRows) add(values []float32) error {
	n, done := 0, len(m.s.Starts)-1+len(values)/m.s.Cols
	for _, v := range values {
		if v != 0 {
			n++
		}
	}
	if err := m.reserve(n, done); err != nil {
		return err
	}
	for ; len(values) > 0; values = values[m.s.Cols:] {
		for j, v := range values[:m.s.Cols] {
			if v != 0 {
				m.s.Columns, m.s.Values = append(m.s.Columns, int32(j)), append(m.s.Values, v)
			}
		}
		m.s.Starts = append(m.s.Starts, len(m.s.Values))
	}
	return nil
}

// reserve makes place for n more values, after which done rows are read: for as many in the rows to
// come as there were so far, where memory has room for them.
func (m *sparseRows) reserve(n, done int) error {
	need := len(m.s.Values) + n
	if need <= cap(m.s.Values) {
		return nil
	}
	expected := int(1.05 * float64(need) * float64(m.s.Rows) / float64(done))
	for _, size := range []int{expected, need + need/4, need} {
		if _, ok := fits(storedBytes(size, 0)); ok {
			m.s.Columns = append(make([]int32, 0, size), m.s.Columns...)
			m.s.Values = append(make([]float32, 0, size), m.s.Values...)
			return nil
		}
	}
	err := checkFits(m.path, m.s.Rows, m.s.Cols, need)
	return fmt.Errorf("%w, after %d rows", err, done)
}
