package kernels

import "unsafe"

// The tiles of each level.
var (
	tiles32 = [...]*tile[float32]{
		Scalar: {rows: 4, lanes: 2},
		NEON:   newTile[float32](4, micro_neon, pack32_neon, pack48_neon, transposeGo[float32]),
	}
	tiles64 = [...]*tile[float64]{
		Scalar: {rows: 4, lanes: 2},
		NEON:   newTile[float64](2, microd_neon, pack32_neon, pack96_neon, transposeGo[float64]),
	}
)

// transposeGo is a transposer in Go.
func transposeGo[T Float](dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, squares int) {
	size := sizeOf[T]()
	side := squareBytes / size
	for r := range side {
		row := unsafe.Slice((*T)(unsafe.Add(src, r*lds)), squares*side)
		for i, x := range row {
			*(*T)(unsafe.Add(dst, i*ldd+r*size)) = x
		}
	}
}

// Prefetch and prefetchRows do nothing on arm64.
func Prefetch(unsafe.Pointer, int) {}

func prefetchRows[T Float](Matrix[T], int, int) {}

//go:noescape
func pack32_neon(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

//go:noescape
func pack48_neon(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)

//go:noescape
func pack96_neon(dst unsafe.Pointer, step int, src unsafe.Pointer, stride, panels, rows int)
