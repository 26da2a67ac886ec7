//go:build amd64 || arm64

package kernels

import (
	"sync"
	"unsafe"
)

// micro multiplies into one tile of c:
//
//	c[r, j] = fma(a[r, p], b[p, j], c[r, j])   for p = 0, 1, ... k-1
//
// starting at 0, or at c if bit 0 of add is set; bit 1 prefetches the elements of c to the
// right of the tile. Strides are in bytes: a[r, p] is at a + r ars + p acs, b[p, j] at
// b + p bks + j elements, c[r, j] at c + r crs + j elements.
type micro func(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

// packer copies rows to full panels: row i of panel n goes to dst + n step + i panel widths.
// All distances are in bytes.
type packer func(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

// tile has the micro-kernels of a level, for 1 to rows rows and one or two vectors. That of
// the scalar level has none; its size only says where work may be cut.
type tile[T Float] struct {
	rows, lanes int // lanes: elements of a vector
	blockCols   int
	kernel      [][2]micro
	packRows    packer
	packGroups  packer // panels with as many rows of a as the tile
	side        int    // side of the squares that transpose transposes
	transpose   transposer
	scratch     sync.Pool // of *scratch[T]
}

// transposer transposes neighbouring squares of src: element (r, side i + j) goes to
// (side i + j, r) of dst, for i < squares. Row strides are in bytes.
type transposer func(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, squares int)

// Blocks of b of blockK x blockCols are packed, to stay in the second-level cache.
const (
	blockK     = 384
	blockBytes = 3 << 17
)

// squareBytes is the row length in bytes of the squares of a transposer.
const squareBytes = 32

// scratch is the scratch memory of a product.
type scratch[T Float] struct {
	b    []T // packed panels of b: [panel][p][2 lanes]
	a    []T // a group of rows of a
	many []T // several groups of rows of a, allocated when needed
	edge []T // a tile at the right edge of c

	patches []T // of an image, allocated when needed
}

func newTile[T Float](lanes int, kernel [][2]micro, packRows, packGroups packer, transpose transposer) *tile[T] {
	rows, size := len(kernel), sizeOf[T]()
	t := &tile[T]{rows: rows, lanes: lanes, blockCols: blockBytes / blockK / size, kernel: kernel}
	t.packRows, t.packGroups, t.side, t.transpose = packRows, packGroups, squareBytes/size, transpose
	t.scratch.New = func() any {
		return &scratch[T]{b: make([]T, blockK*t.blockCols), a: make([]T, rows*rowA), edge: make([]T, rows*2*lanes)}
	}
	return t
}

// tileAt returns the tile of level l for T.
func tileAt[T Float](l Level) *tile[T] {
	var t any = tiles64[l]
	if sizeOf[T]() == 4 {
		t = tiles32[l]
	}
	return t.(*tile[T])
}

// rowA is the distance of copied rows of a. It is not a power of two, because these would
// share cache lines.
const rowA = blockK + 16

func ptr[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// multiply computes c = a b or c += a b on the caller's goroutine. Between blocks of k the
// sums are in c, which keeps their bits.
func (t *tile[T]) multiply(c, a, b Matrix[T], add bool) {
	if t.kernel == nil {
		multiplyGo(c, a, b, add)
		return
	}
	if a.Cols == 0 && !add {
		for i := range c.Rows {
			clear(c.Data[i*c.RowStride:][:c.Cols])
		}
	}
	s := t.scratch.Get().(*scratch[T])
	for j := 0; j < c.Cols; j += t.blockCols {
		j2 := min(c.Cols, j+t.blockCols)
		for p := 0; p < a.Cols; p += blockK {
			p2 := min(a.Cols, p+blockK)
			t.block(s, c.part(0, c.Rows, j, j2), a.part(0, a.Rows, p, p2), b.part(p, p2, j, j2), add || p > 0)
		}
	}
	t.scratch.Put(s)
}

// panels is b, with k rows, as the micro-kernels read it: full panel i begins at data[i*step],
// and its rows are stride elements apart. The remaining columns are a panel of their own,
// padded to whole vectors.
type panels[T Float] struct {
	data, rest               []T
	step, stride, restStride int
	full, left               int  // number of full panels, and of remaining columns
	prefetch                 bool // whether the next rows are prefetched
}

// block is multiply for b of at most blockK x blockCols.
func (t *tile[T]) block(s *scratch[T], c, a, b Matrix[T], add bool) {
	bp := t.arrange(s, b, a.Rows)
	bp.prefetch = true
	t.groups(s, bp, c, a, add)
}

// groups multiplies a by the panels, one group of rows after the other.
func (t *tile[T]) groups(s *scratch[T], bp panels[T], c, a Matrix[T], add bool) {
	first := 0
	if a.RowStride == 1 && bp.full >= 4 {
		first = t.groupsTransposed(s, bp, c, a, add)
	}
	for i := first; i < c.Rows; i += t.rows {
		rows := min(t.rows, c.Rows-i)
		g := a.part(i, i+rows, 0, a.Cols)
		if bp.full >= 2 {
			g = t.gather(s, g, bp.full)
		}
		next := a.part(i+rows, min(i+rows+t.rows, a.Rows), 0, a.Cols)
		t.strip(s, bp, g, next, c.Data[i*c.RowStride:], c.RowStride, add)
	}
}

// groupsTransposed is groups for the whole groups of an a with contiguous columns. It copies
// several groups at a time, so that the columns of a are read in order. It returns the number
// of rows.
func (t *tile[T]) groupsTransposed(s *scratch[T], bp panels[T], c, a Matrix[T], add bool) int {
	const together, apart = 16, 16 // number of groups, and elements between them against shared cache lines
	step := t.rows*a.Cols + apart
	if s.many == nil {
		s.many = make([]T, together*(t.rows*blockK+apart))
	}
	i := 0
	for n := min(together, c.Rows/t.rows); n > 0; n = min(together, (c.Rows-i)/t.rows) {
		t.packA(s.many, step, a.part(i, i+n*t.rows, 0, a.Cols))
		for g := range n {
			t.strip(s, bp, Matrix[T]{s.many[g*step:], t.rows, a.Cols, 1, t.rows}, Matrix[T]{}, c.Data[i*c.RowStride:], c.RowStride, add)
			i += t.rows
		}
	}
	return i
}

// strip multiplies one group of rows by all panels into c, whose rows are stride apart, and
// prefetches the next group.
func (t *tile[T]) strip(s *scratch[T], bp panels[T], a, next Matrix[T], c []T, stride int, add bool) {
	width, kernel, from := 2*t.lanes, t.kernel[a.Rows-1], 0
	if add {
		from = 1
	}
	if bp.prefetch {
		from |= 2
	}
	size := sizeOf[T]()
	ars, acs := size*a.RowStride, size*a.ColStride
	_ = c[(a.Rows-1)*stride+bp.full*width+bp.left-1]
	for n := range bp.full {
		kernel[1](ptr(a.Data), ars, acs, ptr(bp.data[n*bp.step:]), size*bp.stride, ptr(c[n*width:]), size*stride, a.Cols, from)
		if bp.prefetch {
			prefetchRows(next, n, bp.full)
		}
	}
	if bp.left == 0 {
		return
	}
	c = c[bp.full*width:]
	if bp.left == t.lanes {
		kernel[0](ptr(a.Data), ars, acs, ptr(bp.rest), size*bp.restStride, ptr(c), size*stride, a.Cols, from)
		return
	}
	if add {
		for r := range a.Rows {
			copy(s.edge[r*width:][:bp.left], c[r*stride:])
		}
	}
	vectors := (bp.left + t.lanes - 1) / t.lanes
	kernel[vectors-1](ptr(a.Data), ars, acs, ptr(bp.rest), size*bp.restStride, ptr(s.edge), size*width, a.Cols, from)
	for r := range a.Rows {
		copy(c[r*stride:][:bp.left], s.edge[r*width:])
	}
}

// maxUnpackedRows is the number of rows of a up to which packing b does not pay.
const maxUnpackedRows = 48

// arrange returns b as panels, for the given number of rows of a.
func (t *tile[T]) arrange(s *scratch[T], b Matrix[T], rows int) panels[T] {
	width, size := 2*t.lanes, sizeOf[T]()
	p := panels[T]{full: b.Cols / width, left: b.Cols % width}
	switch {
	case b.ColStride == 1 && rows <= maxUnpackedRows:
		p.data, p.step, p.stride = b.Data, width, b.RowStride
	case b.ColStride == 1:
		p.data, p.step, p.stride = s.b, width*b.Rows, width
		if p.full > 0 {
			_, _ = b.Data[(b.Rows-1)*b.RowStride+p.full*width-1], s.b[p.full*p.step-1]
			t.packRows(ptr(s.b), size*p.step, ptr(b.Data), size*b.RowStride, p.full, b.Rows)
		}
	default:
		p.data, p.step, p.stride = s.b, width*b.Rows, width
		for n := range p.full {
			t.pack(s.b[n*p.step:], b.part(0, b.Rows, n*width, (n+1)*width))
		}
	}
	switch last := b.part(0, b.Rows, p.full*width, b.Cols); {
	case p.left > 0 && p.left == t.lanes && b.ColStride == 1 && rows <= maxUnpackedRows:
		p.rest, p.restStride = last.Data, b.RowStride
	case p.left > 0:
		p.rest, p.restStride = s.b[p.full*width*b.Rows:], width
		t.pack(p.rest, last)
	}
	return p
}

// pack writes the rows of b, which has at most the columns of a panel, one after the other to
// dst. Missing columns are undefined; their products are not used.
func (t *tile[T]) pack(dst []T, b Matrix[T]) { layRows(t, dst, b, 2*t.lanes) }

// layRows writes the rows of m to dst, width elements apart.
func layRows[T Float](t *tile[T], dst []T, b Matrix[T], width int) {
	dst = dst[:b.Rows*width]
	switch {
	case b.Rows == 0:
	case b.ColStride == 1:
		for p := range b.Rows {
			copy(dst[p*width:(p+1)*width], b.Data[p*b.RowStride:][:b.Cols])
		}
	case b.RowStride == 1:
		t.packColumns(dst, b, width)
	default:
		packStrided(dst, b, width, 0, 0)
	}
}

// packColumns writes b, whose columns are contiguous, to rows of the given width.
func (t *tile[T]) packColumns(dst []T, b Matrix[T], width int) {
	if t.kernel == nil {
		packStrided(dst, b, width, 0, 0)
		return
	}
	side, size := t.side, sizeOf[T]()
	blocks, whole := b.Rows/side, b.Cols/side*side
	_ = dst[(b.Rows-1)*width+b.Cols-1]
	for j := 0; j < whole && blocks > 0; j += side {
		src := b.Data[j*b.ColStride:]
		_ = src[(side-1)*b.ColStride+blocks*side-1]
		t.transpose(ptr(dst[j:]), size*width, ptr(src), size*b.ColStride, blocks)
	}
	packStrided(dst, b.part(blocks*side, b.Rows, 0, whole), width, blocks*side, 0)
	packStrided(dst, b.part(0, b.Rows, whole, b.Cols), width, 0, whole)
}

// gather copies a group of rows of a to memory without cache conflicts, if that pays for the
// number of full panels.
func (t *tile[T]) gather(s *scratch[T], a Matrix[T], full int) Matrix[T] {
	const apart = 2048 // bytes: rows at multiples of this distance share cache lines
	switch {
	case a.Rows < t.rows || full < 4 && max(a.RowStride, a.ColStride)*sizeOf[T]()%apart != 0:
		return a
	case a.ColStride == 1:
		for r := range a.Rows {
			copy(s.a[r*rowA:][:a.Cols], a.Data[r*a.RowStride:])
		}
		return Matrix[T]{s.a, a.Rows, a.Cols, rowA, 1}
	case a.RowStride == 1:
		t.packA(s.a, 0, a)
		return Matrix[T]{s.a, a.Rows, a.Cols, 1, a.Rows}
	}
	return a
}

// packA copies whole groups of rows of a, whose columns are contiguous, column by column,
// group n to dst[n*step].
func (t *tile[T]) packA(dst []T, step int, a Matrix[T]) {
	groups, size := a.Rows/t.rows, sizeOf[T]()
	if a.Cols == 0 || groups == 0 {
		return
	}
	_, _ = a.Data[(a.Cols-1)*a.ColStride+groups*t.rows-1], dst[(groups-1)*step+t.rows*a.Cols-1]
	t.packGroups(ptr(dst), size*step, ptr(a.Data), size*a.ColStride, groups, a.Cols)
}
