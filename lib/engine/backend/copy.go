// Copies between strided views, plane by plane, with a kernel where rows become columns.

package backend

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// viewCopy copies a view into another one of the same dims. Its two inner axes make a plane:
// the last is that with the smallest stride of the destination, the other that with the
// smallest stride of the source.
type viewCopy struct{ src, dst view }

func (s viewCopy) run(x *execution) {
	dims, strides := mergeAxes(s.src.dims, s.src.strides, s.dst.strides)
	for len(dims) < 2 {
		dims, strides = append([]int{1}, dims...), [][]int{append([]int{0}, strides[0]...), append([]int{0}, strides[1]...)}
	}
	if product(dims) == 0 {
		return
	}
	outer := len(dims) - 2
	order := sequence(0, outer+1)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(abs(strides[0][j]), abs(strides[0][i])) })
	order = append(order, outer+1)
	axis := func(i int) (n, from, to int) { return dims[order[i]], strides[0][order[i]], strides[1][order[i]] }
	var p plane
	p.rows, p.fromRow, p.toRow = axis(outer)
	p.cols, p.fromCol, p.toCol = axis(outer + 1)
	pieces, copies := p.pieces(), planeCopies[s.src.dtype.Size()]
	x.parallel(product(dims)/(p.rows*p.cols)*pieces, max(1, grain*pieces/(p.rows*p.cols)), func(first, last int) {
		for k := first; k < last; k++ {
			a, b, rest := 0, 0, k/pieces
			for i := outer - 1; i >= 0; i-- {
				n, from, to := axis(i)
				a, b, rest = a+rest%n*from, b+rest%n*to, rest/n
			}
			x.check(copies(p.piece(k%pieces, pieces), x.viewPtr(s.dst, b), x.viewPtr(s.src, a)))
		}
	})
}

func abs(i int) int { return max(i, -i) }

// plane is a copy of rows and columns; strides count elements.
type plane struct {
	rows, fromRow, toRow int
	cols, fromCol, toCol int
	first                int // column
}

// strip is the number of columns that are copied together if they are farther apart in the
// source than rows are, so that a cache line is written at once.
const strip = 16

func (p plane) stripCols() int {
	if abs(p.fromRow) < abs(p.fromCol) {
		return strip
	}
	return p.cols
}

// pieces returns the number of pieces into which the columns of a large plane are cut.
func (p plane) pieces() int { return max(1, min(p.cols/strip, p.rows*p.cols/grain)) }

func (p plane) piece(i, of int) plane {
	first, last := i*p.cols/of, (i+1)*p.cols/of
	p.first, p.cols = first, last-first
	return p
}

// planeCopies has the function that copies elements of each size in bytes.
var planeCopies = map[int]func(p plane, to, from unsafe.Pointer) error{
	1: copyPlane[uint8], 2: copyPlane[uint16], 4: transposePlane[float32, uint32], 8: transposePlane[float64, uint64],
}

// transposePlane is copyPlane with the kernels' transposition, if rows become columns. Copies
// of floats keep their bits.
func transposePlane[F kernels.Float, T any](p plane, to, from unsafe.Pointer) error {
	if p.fromRow != 1 || p.toCol != 1 || p.fromCol < p.rows || p.toRow < p.cols || p.rows < strip/2 {
		return copyPlane[T](p, to, from)
	}
	width := int(unsafe.Sizeof(*new(F)))
	dst := sliceAt[F](unsafe.Add(to, p.first*width), (p.rows-1)*p.toRow+p.cols)
	src := sliceAt[F](unsafe.Add(from, p.first*p.fromCol*width), (p.cols-1)*p.fromCol+p.rows)
	return kernels.Transpose(dst, p.toRow, kernels.Matrix[F]{Data: src, Rows: p.rows, Cols: p.cols, RowStride: 1, ColStride: p.fromCol})
}

func copyPlane[T any](p plane, to, from unsafe.Pointer) error {
	width, many := int(unsafe.Sizeof(*new(T))), p.stripCols()
	for j := p.first; j < p.first+p.cols; j += many {
		n := min(many, p.first+p.cols-j)
		for i := range p.rows {
			dst, src := unsafe.Add(to, (i*p.toRow+j*p.toCol)*width), unsafe.Add(from, (i*p.fromRow+j*p.fromCol)*width)
			if p.toCol == 1 {
				copyStrided(sliceAt[T](dst, n), src, 0, p.fromCol)
				continue
			}
			for k := range n {
				*(*T)(unsafe.Add(dst, k*p.toCol*width)) = *(*T)(unsafe.Add(src, k*p.fromCol*width))
			}
		}
	}
	return nil
}
