package kernels

import (
	"math"
	"math/bits"
	"slices"
	"sync"
	"unsafe"
)

// A product with a b that is mostly zeros (counts of genes, drawings, one-hot columns) goes
// without them: fma(a, 0, c) is c, unless a is not finite or c is -0. Where one of these is
// met, the tiles take all terms.
//
// Entries of b stand slab by slab of its rows, so that the rows of a transposed that they take
// stay in the first-level cache, and what they make is c transposed, a strip of rows of c at a
// time.
const (
	stripRows  = 64  // of c: eight vectors
	slabRows   = 96  // of b
	sparseCols = 512 // of b that are multiplied by one packed a
)

// entry is a number of b that is not 0.
type entry struct {
	at    int32 // of the row of a transposed, in bytes from the slab's first
	value float32
}

const rowBytes = 4 * stripRows

// slab is the entries of slabRows rows of a matrix, column by column.
type slab struct {
	entries []entry
	ends    []int32 // of the columns, in entries
}

// strip is what a worker needs for stripRows rows of c.
type strip struct {
	a    [slabRows * stripRows]float32   // transposed
	sums [sparseCols * stripRows]float32 // c transposed
}

var (
	slabs  = sync.Pool{New: func() any { return new([]slab) }}
	strips = sync.Pool{New: func() any { return new(strip) }}
)

// multiplySparse is c = a b without the zeros of b, if that pays; it tells whether it did.
func multiplySparse[T Float](l Level, p Pool, c, a, b Matrix[T]) bool {
	if l < AVX2 || sizeOf[T]() != 4 || c.Rows < stripRows || multiplications(c, a) < worthSharing {
		return false
	}
	return withoutZeros(l, p, any(c).(Matrix[float32]), any(a).(Matrix[float32]), any(b).(Matrix[float32]))
}

func withoutZeros(l Level, p Pool, c, a, b Matrix[float32]) bool {
	const largest = 1 << 24 // numbers of b, whose entries may take as much memory
	most := filled(l)
	if b.Cols > largest/b.Rows || b.sample() > most {
		return false
	}
	room := slabs.Get().(*[]slab)
	defer slabs.Put(room)
	s, few := take(l, p, room, b, most)
	if !few {
		return false
	}
	g := grid{c.Rows, c.Cols, stripRows, sparseCols, (c.Rows + stripRows - 1) / stripRows, (c.Cols + sparseCols - 1) / sparseCols}
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

// filled is the share of a matrix's numbers that may be not 0: with more of them the tiles,
// which take all terms, are as fast.
func filled(l Level) float64 {
	if l == AVX512 {
		return 0.2
	}
	return 0.4
}

// sample is the share of numbers that are not 0 among some all over m.
func (m Matrix[T]) sample() float64 {
	const n, apart = 64, 0.6180339887498949 // of the golden section: no two lie close
	found := 0
	for k, x := 0, 0.0; k < n; k++ {
		_, x = math.Modf(x + apart)
		if m.At(k*m.Rows/n, int(x*float64(m.Cols))) != 0 {
			found++
		}
	}
	return float64(found) / n
}

// take lists the entries of b, in the room that there is; false where more than that share of
// b are entries.
func take(l Level, p Pool, room *[]slab, b Matrix[float32], most float64) ([]slab, bool) {
	n := (b.Rows + slabRows - 1) / slabRows
	*room = append(*room, make([]slab, max(0, n-len(*room)))...)
	s := (*room)[:n]
	p.Run(n, 1, func(from, to int) {
		for i := from; i < to; i++ {
			s[i].take(l, b.part(i*slabRows, min((i+1)*slabRows, b.Rows), 0, b.Cols))
		}
	})
	all := 0
	for _, one := range s {
		all += len(one.entries)
	}
	return s, float64(all) <= most*float64(b.Rows)*float64(b.Cols)
}

// take lists the entries of b, of at most slabRows rows.
func (s *slab) take(l Level, b Matrix[float32]) {
	const some, words = 64, slabRows / 32 // columns at a time
	var x [some * slabRows]float32        // these, turned into rows; what b has not is 0
	var found [some * words]uint32        // a bit for each number of x
	s.entries, s.ends = s.entries[:0], s.ends[:0]
	for j := 0; j < b.Cols; j += some {
		cols := b.part(0, b.Rows, j, min(j+some, b.Cols)).T()
		lay(tiles32[l], x[:], cols, slabRows)
		nonzero_avx2(ptr(found[:]), ptr(x[:]), cols.Rows*words)
		n := 0
		for _, word := range found[:cols.Rows*words] {
			n += bits.OnesCount32(word)
		}
		at := len(s.entries)
		s.entries = slices.Grow(s.entries, n)[:at+n]
		for i, word := range found[:cols.Rows*words] {
			p := i % words * 32
			for ; word != 0; word &= word - 1 {
				k := bits.TrailingZeros32(word)
				s.entries[at] = entry{int32((p + k) * rowBytes), x[32*i+k]}
				at++
			}
			if p+32 == slabRows {
				s.ends = append(s.ends, int32(at))
			}
		}
	}
}

// multiply sets c, of at most stripRows rows, to a by the columns of the entries from j on. It
// tells whether c is what all terms would have made of it.
func (w *strip) multiply(l Level, c, a Matrix[float32], s []slab, j int) bool {
	sums := w.sums[:c.Cols*stripRows]
	clear(sums)
	if a.Rows < stripRows {
		clear(w.a[:])
	}
	for i, b := range s {
		first, last := i*slabRows, min((i+1)*slabRows, a.Cols)
		lay(tiles32[l], w.a[:], a.part(0, a.Rows, first, last).T(), stripRows)
		if !finiteAt(l, w.a[:(last-first)*stripRows]) {
			return false
		}
		from := 0
		if j > 0 {
			from = int(b.ends[j-1])
		}
		ends := b.ends[j:][:c.Cols]
		_ = b.entries[from:ends[len(ends)-1]]
		sparse_avx2(ptr(sums), ptr(w.a[:]), ptr(b.entries), from, ptr(ends), len(ends))
	}
	if minus_avx2(ptr(sums), len(sums)) {
		return false
	}
	tiles32[l].packColumns(c.Data, Matrix[float32]{sums, c.Rows, c.Cols, 1, stripRows}, c.RowStride)
	return true
}

// sparse_avx2 adds to the sums of n columns, stripRows each, value by value the rows of a that
// the column's entries name. The first column's begin at from.
//
//go:noescape
func sparse_avx2(sums, a, entries unsafe.Pointer, from int, ends unsafe.Pointer, n int)

// nonzero_avx2 sets a bit for each of n times 32 numbers that is not 0.
//
//go:noescape
func nonzero_avx2(bits, x unsafe.Pointer, n int)

// minus_avx2 tells whether there is a -0 among n numbers, a multiple of 64.
//
//go:noescape
func minus_avx2(x unsafe.Pointer, n int) bool
