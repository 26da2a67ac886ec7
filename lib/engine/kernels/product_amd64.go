package kernels

import "unsafe"

// The tiles of each level.
var (
	tiles32 = [...]*tile[float32]{
		Scalar: {rows: 4, lanes: 2},
		AVX2:   newTile[float32](8, micro_avx2, pack_avx2, pack24_avx2, transpose8_avx2),
		AVX512: newTile[float32](16, micro_avx512, pack_avx512, pack48_avx2, transpose8_avx2),
	}
	tiles64 = [...]*tile[float64]{
		Scalar: {rows: 4, lanes: 2},
		AVX2:   newTile[float64](4, microd_avx2, pack_avx2, pack48_avx2, transpose4d_avx2),
		AVX512: newTile[float64](8, microd_avx512, pack_avx512, pack96_avx2, transpose4d_avx2),
	}
)

// Prefetch prefetches the given number of bytes from p on. A processor prefetches by itself,
// but not across pages.
func Prefetch(p unsafe.Pointer, bytes int) {
	if bytes > 0 {
		ahead_avx2(p, 0, 1, (bytes+cacheLine-1)/cacheLine)
	}
}

// cacheLine is the size of a cache line in bytes.
const cacheLine = 64

// prefetchRows prefetches a part of the rows of a, if they are contiguous.
func prefetchRows[T Float](a Matrix[T], part, parts int) {
	first, last := a.Rows*part/parts, a.Rows*(part+1)/parts
	if size := sizeOf[T](); a.ColStride == 1 && first < last && a.Cols > 0 {
		ahead_avx2(ptr(a.Data[first*a.RowStride:]), size*a.RowStride, last-first, (size*a.Cols+cacheLine-1)/cacheLine)
	}
}

//go:noescape
func transpose8_avx2(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, squares int)

//go:noescape
func transpose4d_avx2(dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, squares int)

//go:noescape
func ahead_avx2(p unsafe.Pointer, stride, rows, lines int)

//go:noescape
func pack_avx2(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

//go:noescape
func pack24_avx2(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

//go:noescape
func pack48_avx2(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

//go:noescape
func pack96_avx2(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

//go:noescape
func pack_avx512(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)
