package kernels

import (
	"sync"
	"unsafe"
)

// micro multiplies into one tile of c:
//
//	c[r, j] = fma(a[r, p], b[p, j], c[r, j])   for p = 0, 1, ... k-1
//
// from 0, or from c where add is not 0. Strides count bytes: a[r, p] lies at a + r ars + p
// acs, b[p, j] at b + p bks + 4 j, c[r, j] at c + r crs + 4 j.
type micro func(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

// packer copies rows of full panels into panels: row i of panel n goes to dst + n step + i
// panel widths. All distances count bytes.
type packer func(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

// tile is what a level multiplies with: micro-kernels of 1 to rows rows, of one vector
// and of two.
type tile struct {
	rows, lanes int // lanes: float32 in a vector
	kernel      [][2]micro
	packRows    packer
	scratch     sync.Pool // of *scratch
}

// Blocks of b of blockK x blockCols are packed to lie in the second-level cache.
const (
	blockK    = 256
	blockCols = 512
)

// scratch is the memory that a product needs besides its operands.
type scratch struct {
	b    []float32 // packed panels of b: [panel][p][2 lanes]
	a    []float32 // a group of rows of a
	edge []float32 // a tile at the right edge of c

	patches []float32 // of an image, when first needed
}

func newTile(rows, lanes int, packRows packer, kernel [][2]micro) *tile {
	t := &tile{rows: rows, lanes: lanes, kernel: kernel, packRows: packRows}
	t.scratch.New = func() any {
		return &scratch{b: make([]float32, blockK*blockCols), a: make([]float32, rows*rowA), edge: make([]float32, rows*2*lanes)}
	}
	return t
}

// rowA is the distance of copied rows of a: not a power of two, which would send all of
// them to the same lines of the cache.
const rowA = blockK + 16

func (l Level) tile() *tile {
	switch l {
	case AVX512:
		return tile512
	case AVX2:
		return tile2
	}
	return tile1
}

var tile1 = &tile{rows: 4, lanes: 2}

func ptr[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// multiply is c = a b or c += a b on the caller's goroutine. Between blocks of k the chains
// rest in c, which keeps their bits.
func (t *tile) multiply(c, a, b Matrix, add bool) {
	if t.kernel == nil {
		multiplyScalar(c, a, b, add)
		return
	}
	if a.Cols == 0 && !add {
		for i := range c.Rows {
			clear(c.Data[i*c.RowStride:][:c.Cols])
		}
	}
	s := t.scratch.Get().(*scratch)
	for j := 0; j < c.Cols; j += blockCols {
		j2 := min(c.Cols, j+blockCols)
		for p := 0; p < a.Cols; p += blockK {
			p2 := min(a.Cols, p+blockK)
			t.block(s, c.part(0, c.Rows, j, j2), a.part(0, a.Rows, p, p2), b.part(p, p2, j, j2), add || p > 0)
		}
	}
	t.scratch.Put(s)
}

// panels is how the micro-kernels read a b of k rows: panel i of the full ones begins at
// data[i*step], its rows lie stride numbers apart. What is left of the columns is a panel
// of its own, padded to whole vectors.
type panels struct {
	data, rest               []float32
	step, stride, restStride int
	full, left               int // panels, and columns behind them
}

// block is multiply for a b of at most blockK x blockCols.
func (t *tile) block(s *scratch, c, a, b Matrix, add bool) {
	bp := t.arrange(s, b, a.Rows)
	for i := 0; i < c.Rows; i += t.rows {
		rows := min(t.rows, c.Rows-i)
		g := a.part(i, i+rows, 0, a.Cols)
		if bp.full >= 2 {
			g = t.gather(s, g, bp.full)
		}
		t.strip(s, bp, g, c.Data[i*c.RowStride:], c.RowStride, add)
	}
}

// strip multiplies one group of rows by all panels into c, whose rows are stride apart.
func (t *tile) strip(s *scratch, bp panels, a Matrix, c []float32, stride int, add bool) {
	width, kernel, from := 2*t.lanes, t.kernel[a.Rows-1], 0
	if add {
		from = 1
	}
	ars, acs := 4*a.RowStride, 4*a.ColStride
	_ = c[(a.Rows-1)*stride+bp.full*width+bp.left-1]
	for n := range bp.full {
		kernel[1](ptr(a.Data), ars, acs, ptr(bp.data[n*bp.step:]), 4*bp.stride, ptr(c[n*width:]), 4*stride, a.Cols, from)
	}
	if bp.left == 0 {
		return
	}
	c = c[bp.full*width:]
	if bp.left == t.lanes {
		kernel[0](ptr(a.Data), ars, acs, ptr(bp.rest), 4*bp.restStride, ptr(c), 4*stride, a.Cols, from)
		return
	}
	if add {
		for r := range a.Rows {
			copy(s.edge[r*width:][:bp.left], c[r*stride:])
		}
	}
	vectors := (bp.left + t.lanes - 1) / t.lanes
	kernel[vectors-1](ptr(a.Data), ars, acs, ptr(bp.rest), 4*bp.restStride, ptr(s.edge), 4*width, a.Cols, from)
	for r := range a.Rows {
		copy(c[r*stride:][:bp.left], s.edge[r*width:])
	}
}

// fewRows is the number of rows of a up to which b is read where it lies: fewer do not
// pay for packing it.
const fewRows = 48

// arrange brings b into panels for rows rows of a.
func (t *tile) arrange(s *scratch, b Matrix, rows int) panels {
	width := 2 * t.lanes
	p := panels{full: b.Cols / width, left: b.Cols % width}
	switch {
	case b.ColStride == 1 && rows <= fewRows:
		p.data, p.step, p.stride = b.Data, width, b.RowStride
	case b.ColStride == 1:
		p.data, p.step, p.stride = s.b, width*b.Rows, width
		if p.full > 0 {
			_, _ = b.Data[(b.Rows-1)*b.RowStride+p.full*width-1], s.b[p.full*p.step-1]
			t.packRows(ptr(s.b), 4*p.step, ptr(b.Data), 4*b.RowStride, p.full, b.Rows)
		}
	default:
		p.data, p.step, p.stride = s.b, width*b.Rows, width
		for n := range p.full {
			t.pack(s.b[n*p.step:], b.part(0, b.Rows, n*width, (n+1)*width))
		}
	}
	switch last := b.part(0, b.Rows, p.full*width, b.Cols); {
	case p.left > 0 && p.left == t.lanes && b.ColStride == 1 && rows <= fewRows:
		p.rest, p.restStride = last.Data, b.RowStride
	case p.left > 0:
		p.rest, p.restStride = s.b[p.full*width*b.Rows:], width
		t.pack(p.rest, last)
	}
	return p
}

// pack writes the rows of b, which has at most the columns of a panel, one after the other
// into dst. Columns that b lacks become what they like: their products go nowhere.
func (t *tile) pack(dst []float32, b Matrix) {
	width := 2 * t.lanes
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
		packAny(dst, b, width, 0, 0)
	}
}

// packColumns writes a b whose columns lie in one piece each into rows of that width.
func (t *tile) packColumns(dst []float32, b Matrix, width int) {
	const side = 8
	blocks, whole := b.Rows/side, b.Cols/side*side
	if t.kernel == nil {
		packAny(dst, b, width, 0, 0)
		return
	}
	_ = dst[b.Rows*width-1]
	for j := 0; j < whole && blocks > 0; j += side {
		src := b.Data[j*b.ColStride:]
		_ = src[(side-1)*b.ColStride+blocks*side-1]
		transpose8_avx2(ptr(dst[j:]), 4*width, ptr(src), 4*b.ColStride, blocks)
	}
	packAny(dst, b.part(blocks*side, b.Rows, 0, whole), width, blocks*side, 0)
	packAny(dst, b.part(0, b.Rows, whole, b.Cols), width, 0, whole)
}

// gather copies a group of rows of a to where they do not push each other out of the
// first-level cache, if that pays for being read by full panels.
func (t *tile) gather(s *scratch, a Matrix, full int) Matrix {
	const apart = 512 // numbers: rows so far apart, or multiples of it, share lines of the cache
	enough := 4
	if a.RowStride == 1 {
		enough = 16 // many short pieces
	}
	switch {
	case a.Rows < t.rows || full < enough && max(a.RowStride, a.ColStride)%apart != 0:
		return a
	case a.ColStride == 1:
		for r := range a.Rows {
			copy(s.a[r*rowA:][:a.Cols], a.Data[r*a.RowStride:])
		}
		return Matrix{s.a, a.Rows, a.Cols, rowA, 1}
	case a.RowStride == 1:
		for p := range a.Cols {
			copy(s.a[p*a.Rows:][:a.Rows], a.Data[p*a.ColStride:])
		}
		return Matrix{s.a, a.Rows, a.Cols, 1, a.Rows}
	}
	return a
}

var tile2 = newTile(6, 8, pack_avx2, [][2]micro{
	{micro1x8_avx2, micro1x16_avx2},
	{micro2x8_avx2, micro2x16_avx2},
	{micro3x8_avx2, micro3x16_avx2},
	{micro4x8_avx2, micro4x16_avx2},
	{micro5x8_avx2, micro5x16_avx2},
	{micro6x8_avx2, micro6x16_avx2},
})

var tile512 = newTile(12, 16, pack_avx512, [][2]micro{
	{micro1x16_avx512, micro1x32_avx512},
	{micro2x16_avx512, micro2x32_avx512},
	{micro3x16_avx512, micro3x32_avx512},
	{micro4x16_avx512, micro4x32_avx512},
	{micro5x16_avx512, micro5x32_avx512},
	{micro6x16_avx512, micro6x32_avx512},
	{micro7x16_avx512, micro7x32_avx512},
	{micro8x16_avx512, micro8x32_avx512},
	{micro9x16_avx512, micro9x32_avx512},
	{micro10x16_avx512, micro10x32_avx512},
	{micro11x16_avx512, micro11x32_avx512},
	{micro12x16_avx512, micro12x32_avx512},
})

//go:noescape
func micro1x8_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro1x16_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro2x8_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro2x16_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro3x8_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro3x16_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro4x8_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro4x16_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro5x8_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro5x16_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro6x8_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro6x16_avx2(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro1x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro1x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro2x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro2x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro3x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro3x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro4x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro4x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro5x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro5x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro6x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro6x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro7x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro7x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro8x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro8x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro9x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro9x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro10x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro10x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro11x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro11x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro12x16_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func micro12x32_avx512(a unsafe.Pointer, ars, acs int, b unsafe.Pointer, bks int, c unsafe.Pointer, crs, k, add int)

//go:noescape
func transpose8_avx2(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, blocks int)

//go:noescape
func pack_avx2(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

//go:noescape
func pack_avx512(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)
