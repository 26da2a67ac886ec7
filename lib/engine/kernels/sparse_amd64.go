// The float32 product with a sparse right operand: it skips zeros and has the dense product's bits.

package kernels

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// A product with a sparse b (counts of genes, one-hot columns) skips the zeros: fma(a, 0, c)
// is c, unless a is not finite or c is -0. In these cases the tiles compute all terms.
//
// The entries of b are in slabs of its rows, so that the rows of a transposed that they need
// stay in the first-level cache. The result is c transposed, one strip of rows of c at a
// time.
const (
	mostRows   = 128 // of c in a strip
	slabRows   = 96  // of b
	sparseCols = 512 // of b, multiplied by one packed a
	someCols   = 64  // of b, searched at a time
)

// entry is a nonzero element of b.
type entry struct {
	offset int32 // of the row of a transposed, in bytes from the slab's first, for rows of shortRows elements
	value  float32
}

// shortRows is the number of rows of c in the shortest strips: eight vectors of AVX2.
const (
	shortRows = 64
	rowBytes  = 4 * shortRows
)

// stripRows returns the number of rows of c in a strip: eight vectors.
func stripRows(l Level) int { return 8 * tiles32[l].lanes }

// slab has the entries of slabRows rows of a matrix, column by column.
type slab struct {
	entries []entry
	ends    []int32 // end of each column in entries
}

// search is the memory of a worker that finds entries.
type search struct {
	x     [someCols * slabRows]float32     // columns, as rows
	found [someCols * slabRows / 32]uint32 // a bit for each nonzero element of x
}

// strip is the memory of a worker for a strip of c.
type strip struct {
	a    [slabRows * mostRows]float32   // transposed
	sums [sparseCols * mostRows]float32 // c transposed
}

var (
	slabs    = sync.Pool{New: func() any { return new([]slab) }}
	searches = sync.Pool{New: func() any { return new(search) }}
	strips   = sync.Pool{New: func() any { return new(strip) }}
)

// multiplySparse computes c = a b without the zeros of b, if that pays. It reports whether it
// did.
func multiplySparse[T Float](l Level, p Pool, c, a, b Matrix[T]) bool {
	if l < AVX2 || sizeOf[T]() != 4 || multiplications(c, a) < minParallelWork {
		return false
	}
	return sparseProduct(l, p, any(c).(Matrix[float32]), any(a).(Matrix[float32]), any(b).(Matrix[float32]))
}

// sparseProduct is multiplySparse for large operands, if b is sparse enough.
func sparseProduct(l Level, p Pool, c, a, b Matrix[float32]) bool {
	const largest = 1 << 24 // elements of b, whose entries may take as much memory
	most := maxDensity(l, c.Rows)
	if most <= 0 || b.Cols > largest/b.Rows || !b.looksSparse(most) {
		return false
	}
	memory := slabs.Get().(*[]slab)
	defer slabs.Put(memory)
	s, few := listEntries(l, p, memory, b, most)
	if !few {
		return false
	}
	height := stripRows(l)
	g := grid{c.Rows, c.Cols, height, sparseCols, (c.Rows + height - 1) / height, (c.Cols + sparseCols - 1) / sparseCols}
	p.Run(g.pieces(), 1, func(from, to int) {
		w := strips.Get().(*strip)
		for n := from; n < to; n++ {
			i, i2, j, j2 := g.piece(n)
			part, rows := c.part(i, i2, j, j2), a.part(i, i2, 0, a.Cols)
			if !w.multiply(l, part, rows, s, j) {
				tiles32[l].multiply(part, rows, b.part(0, b.Rows, j, j2), false)
			}
		}
		strips.Put(w)
	})
	return true
}

// maxDensity returns the share of nonzero elements of b up to which the sparse product is
// faster. The cost model counts nanoseconds per element of b with AVX2: tiles 1.15 per
// shortRows rows of c; the search 0.6, and 2.5 per entry; an entry 2.4 in every strip.
func maxDensity(l Level, rows int) float64 {
	tiles := 1.15 * float64(rows) / shortRows
	if l == AVX512 {
		tiles /= 2
	}
	height := stripRows(l)
	return (tiles - 0.6) / (2.5 + 2.4*float64((rows+height-1)/height))
}

// looksSparse reports whether at most this share of a sample of m's elements is nonzero.
func (m Matrix[T]) looksSparse(most float64) bool {
	const n, apart = 256, 0.6180339887498949 // golden section: no two columns are close
	left := int(most * n)
	for k, x := 0, 0.0; k < n && left >= 0; k++ {
		_, x = math.Modf(x + apart)
		if m.At(k*m.Rows/n, int(x*float64(m.Cols))) != 0 {
			left--
		}
	}
	return left >= 0
}

// listEntries returns the entries of b, in memory; false if more than the share most of b are
// entries.
func listEntries(l Level, p Pool, memory *[]slab, b Matrix[float32], most float64) ([]slab, bool) {
	n := (b.Rows + slabRows - 1) / slabRows
	*memory = append(*memory, make([]slab, max(0, n-len(*memory)))...)
	s := (*memory)[:n]
	p.Run(n, 1, func(from, to int) {
		w := searches.Get().(*search)
		for i := from; i < to; i++ {
			s[i].listEntries(l, w, b.part(i*slabRows, min((i+1)*slabRows, b.Rows), 0, b.Cols))
		}
		searches.Put(w)
	})
	all := 0
	for _, one := range s {
		all += len(one.entries)
	}
	return s, float64(all) <= most*float64(b.Rows)*float64(b.Cols)
}

// listEntries lists the entries of b, which has at most slabRows rows.
func (s *slab) listEntries(l Level, w *search, b Matrix[float32]) {
	s.entries, s.ends = s.entries[:0], s.ends[:0]
	if b.Rows < slabRows {
		clear(w.x[:]) // after the end of the columns
	}
	for j := 0; j < b.Cols; j += someCols {
		cols := b.part(0, b.Rows, j, min(j+someCols, b.Cols)).T()
		layRows(tiles32[l], w.x[:], cols, slabRows)
		nonzero_avx2(ptr(w.found[:]), ptr(w.x[:]), cols.Rows*slabRows/32)
		for i := range cols.Rows {
			s.column(w.x[i*slabRows:][:slabRows], w.found[i*slabRows/32:][:slabRows/32])
		}
	}
}

// column appends the entries of a column; found has a bit for each.
func (s *slab) column(x []float32, found []uint32) {
	s.entries = slices.Grow(s.entries, len(x))
	at := len(s.entries)
	to := s.entries[at : at+len(x)]
	n := 0
	for w, word := range found {
		for x := x[32*w:][:32]; word != 0; word &= word - 1 {
			k := bits.TrailingZeros32(word)
			to[n] = entry{int32((32*w + k) * rowBytes), x[k]}
			n++
		}
	}
	s.entries = s.entries[:at+n]
	s.ends = append(s.ends, int32(at+n))
}

// multiply sets c, with at most a strip's rows, to the product of a and the columns of the
// entries from j on. It reports whether c has the bits of the product with all terms.
func (w *strip) multiply(l Level, c, a Matrix[float32], s []slab, j int) bool {
	height := stripRows(l)
	sums := w.sums[:c.Cols*height]
	clear(sums)
	if a.Rows < height {
		clear(w.a[:])
	}
	for i, b := range s {
		first, last := i*slabRows, min((i+1)*slabRows, a.Cols)
		layRows(tiles32[l], w.a[:], a.part(0, a.Rows, first, last).T(), height)
		if !finiteAt(l, w.a[:(last-first)*height]) {
			return false
		}
		from := 0
		if j > 0 {
			from = int(b.ends[j-1])
		}
		ends := b.ends[j:][:c.Cols]
		_ = b.entries[from:ends[len(ends)-1]]
		sparse := sparse_avx2
		if l == AVX512 {
			sparse = sparse_avx512
		}
		sparse(ptr(sums), ptr(w.a[:]), ptr(b.entries), from, ptr(ends), len(ends))
	}
	if minus_avx2(ptr(sums), len(sums)) {
		return false
	}
	tiles32[l].packColumns(c.Data, Matrix[float32]{sums, c.Rows, c.Cols, 1, height}, c.RowStride)
	return true
}

// sparse_avx2 adds, to the sums of n columns, the rows of a of each column's entries times
// their values. The first column's entries begin at from.
//
//go:noescape
func sparse_avx2(sums, a, entries unsafe.Pointer, from int, ends unsafe.Pointer, n int)

//go:noescape
func sparse_avx512(sums, a, entries unsafe.Pointer, from int, ends unsafe.Pointer, n int)

// nonzero_avx2 sets a bit for each nonzero of 32 n elements.
//
//go:noescape
func nonzero_avx2(bits, x unsafe.Pointer, n int)

// minus_avx2 reports whether a -0 is among n elements; n is a multiple of 64.
//
//go:noescape
func minus_avx2(x unsafe.Pointer, n int) bool
