package kernels

import "unsafe"

// laneIndices has the number of each lane.
var laneIndices = [8]uint64{0, 1, 2, 3, 4, 5, 6, 7}

// dropoutGroups fills as many whole groups as fit dst, from the four elements of the number
// z on, and returns the number of elements.
func dropoutGroups(l Level, dst []float32, z uint64, threshold, keep uint32) (done int) {
	take := func(size int, run func(dst, lanes unsafe.Pointer, z uint64, groups int, threshold, keep uint32)) {
		if groups := (len(dst) - done) / size; groups > 0 {
			run(ptr(dst[done:]), unsafe.Pointer(&laneIndices), z+uint64(done>>2)+golden, groups, threshold, keep)
			done += groups * size
		}
	}
	if l >= AVX512 {
		take(32, dropout_avx512)
	}
	if l >= AVX2 {
		take(16, dropout_avx2)
	}
	return done
}

//go:noescape
func dropout_avx2(dst, lanes unsafe.Pointer, z uint64, groups int, threshold, keep uint32)

//go:noescape
func dropout_avx512(dst, lanes unsafe.Pointer, z uint64, groups int, threshold, keep uint32)
