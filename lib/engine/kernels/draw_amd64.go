package kernels

import "unsafe"

// laneIndices has the number of each lane.
var laneIndices = [8]uint64{0, 1, 2, 3, 4, 5, 6, 7}

// dropoutGroups fills as many whole groups as fit dst, from the four elements of the number
// z on, and returns the number of elements.
func dropoutGroups(l Level, dst []float32, z uint64, threshold, keep uint32) int {
	size, run := 32, dropout_avx512
	switch {
	case l < AVX2:
		return 0
	case l < AVX512:
		size, run = 16, dropout_avx2
	}
	groups := len(dst) / size
	if groups > 0 {
		run(ptr(dst), unsafe.Pointer(&laneIndices), z+golden, groups, threshold, keep)
	}
	return groups * size
}

//go:noescape
func dropout_avx2(dst, lanes unsafe.Pointer, z uint64, groups int, threshold, keep uint32)

//go:noescape
func dropout_avx512(dst, lanes unsafe.Pointer, z uint64, groups int, threshold, keep uint32)
