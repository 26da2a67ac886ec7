package kernels

import "fmt"

// sumBlock is the number of elements of a long sum that are added to one set of lanes.
const sumBlock = 1 << 16

// lanes has sixteen partial sums.
type lanes [16]float64

// total joins the lanes by halves: 0 with 8, 1 with 9 and so on, then the remaining eight.
func (s *lanes) total() float64 {
	for w := len(s) / 2; w > 0; w /= 2 {
		for i := range w {
			s[i] += s[i+w]
		}
	}
	return s[0]
}

// add adds a[i] to lane i mod 16, in the order of i.
func (s *lanes) add(l Level, a []float32) {
	n := len(a) / len(s)
	if n > 0 {
		columnsAt(l, s, a, len(s), n)
	}
	for i, x := range a[n*len(s):] {
		s[i] += float64(x)
	}
}

// columnsScalar adds sixteen columns of n rows, which are stride apart, to the lanes.
func columnsScalar(s *lanes, a []float32, stride, n int) {
	for i := range n {
		for j, x := range a[i*stride:][:len(s)] {
			s[j] += float64(x)
		}
	}
}

// Sum returns the sum of a in float64. Element i of a block of 65,536 is added to lane i mod
// 16; lanes are joined by halves (0 with 8, ... 7 with 15, 0 with 4, ...), blocks one after
// the other. An empty sum is 0.
func Sum(a []float32) float64 { return sumAt(best, a) }

func sumAt(l Level, a []float32) float64 {
	var sum float64
	for len(a) > 0 {
		var s lanes
		n := min(len(a), sumBlock)
		s.add(l, a[:n])
		sum += s.total()
		a = a[n:]
	}
	return sum
}

// AddRows adds rows, which are stride apart in a, to sums in float64, one after the other:
//
//	sums[j] += a[i stride + j]   for i = 0, 1, ... rows-1
//
// It panics if a is too short.
func AddRows(sums []float64, a []float32, stride, rows int) { addRowsAt(best, sums, a, stride, rows) }

func addRowsAt(l Level, sums []float64, a []float32, stride, rows int) {
	const side = len(lanes{})
	j := 0
	for ; rows > 0 && j+side <= len(sums); j += side {
		columnsAt(l, (*lanes)(sums[j:]), a[j:], stride, rows)
	}
	if j == len(sums) {
		return
	}
	for i := range rows {
		for k, x := range a[i*stride+j:][:len(sums)-j] {
			sums[j+k] += float64(x)
		}
	}
}

// SumRows sets dst[i] to the Sum of row i, for any strides.
func SumRows(p Pool, dst []float64, m Matrix[float32]) error { return sumRowsAt(best, p, dst, m) }

func sumRowsAt(l Level, p Pool, dst []float64, m Matrix[float32]) error {
	if err := checkSums("row", len(dst), m.Rows, m); err != nil {
		return err
	}
	p.Run(m.Rows, sumGrain(m.Cols), func(from, to int) {
		if m.ColStride == 1 && m.Cols > 0 {
			for i := from; i < to; i++ {
				dst[i] = sumAt(l, m.Data[i*m.RowStride:][:m.Cols])
			}
			return
		}
		row := make([]float32, m.Cols)
		for i := from; i < to; i++ {
			for j := range row {
				row[j] = m.At(i, j)
			}
			dst[i] = sumAt(l, row)
		}
	})
	return nil
}

// SumCols sets dst[j] to the sum of column j in float64, in the order of the rows.
func SumCols(p Pool, dst []float64, m Matrix[float32]) error { return sumColsAt(best, p, dst, m) }

func sumColsAt(l Level, p Pool, dst []float64, m Matrix[float32]) error {
	if err := checkSums("column", len(dst), m.Cols, m); err != nil {
		return err
	}
	const side = len(lanes{})
	p.Run((m.Cols+side-1)/side, sumGrain(side*m.Rows), func(from, to int) {
		first, last := from*side, min(m.Cols, to*side)
		clear(dst[first:last])
		if m.ColStride == 1 && m.Rows > 0 {
			addRowsAt(l, dst[first:last], m.Data[first:], m.RowStride, m.Rows)
			return
		}
		for j := first; j < last; j++ {
			for i := range m.Rows {
				dst[j] += float64(m.At(i, j))
			}
		}
	})
	return nil
}

// sumGrain returns the number of outputs of n terms each from which a goroutine pays.
func sumGrain(n int) int { return max(1, (1<<16)/max(1, n)) }

func checkSums(what string, have, want int, m Matrix[float32]) error {
	if err := m.Check(); err != nil {
		return fmt.Errorf("sums of %ss: %w", what, err)
	}
	if have != want {
		return fmt.Errorf("sums of %ss: the result has %d elements, not %d", what, have, want)
	}
	return nil
}
