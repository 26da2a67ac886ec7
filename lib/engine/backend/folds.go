package backend

import (
	"math"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// foldFloats adds and multiplies in float64.
func foldFloats[T float](t dtypes.DType) {
	sum := func(a, b float64) float64 { return a + b }
	times := func(a, b float64) float64 { return a * b }
	self := func(a T) T { return a }
	least := func(a, b T) T { return -larger(-a, -b) }
	narrow := func(a float64) T { return T(a) }
	folds[kernelOf{compute.OpTypeReduceSum, t}] = foldOf(0.0, func(a float64, v T) float64 { return a + float64(v) }, sum, narrow)
	folds[kernelOf{compute.OpTypeReduceProduct, t}] = foldOf(1.0, func(a float64, v T) float64 { return a * float64(v) }, times, narrow)
	folds[kernelOf{compute.OpTypeReduceMax, t}] = foldOf(T(math.Inf(-1)), larger[T], larger[T], self)
	folds[kernelOf{compute.OpTypeReduceMin, t}] = foldOf(T(math.Inf(1)), least, least, self)
}

// sumFloat32 is the sum of float32 by the kernels.
func sumFloat32() *fold {
	f := *folds[kernelOf{compute.OpTypeReduceSum, dtypes.Float32}]
	f.along = func(acc *uint64, from unsafe.Pointer, n int) {
		*(*float64)(unsafe.Pointer(acc)) += kernels.Sum(of[float32](from, n))
	}
	f.across = func(acc []uint64, from unsafe.Pointer, rows int) {
		kernels.AddRows(of[float64](unsafe.Pointer(unsafe.SliceData(acc)), len(acc)), of[float32](from, rows*len(acc)), len(acc), rows)
	}
	return &f
}

func foldIntegers[T integer](t dtypes.DType) {
	add := func(a, b T) T { return a + b }
	times := func(a, b T) T { return a * b }
	most := func(a, b T) T { return max(a, b) }
	least := func(a, b T) T { return min(a, b) }
	self := func(a T) T { return a }
	low, high := limits[T]()
	folds[kernelOf{compute.OpTypeReduceSum, t}] = foldOf(T(0), add, add, self)
	folds[kernelOf{compute.OpTypeReduceProduct, t}] = foldOf(T(1), times, times, self)
	folds[kernelOf{compute.OpTypeReduceMax, t}] = foldOf(low, most, most, self)
	folds[kernelOf{compute.OpTypeReduceMin, t}] = foldOf(high, least, least, self)
}

// limits are the smallest and the largest of a type.
func limits[T integer]() (low, high T) {
	if ^T(0) > 0 {
		return 0, ^T(0)
	}
	high = T(1)
	for high<<1 > 0 {
		high = high<<1 | 1
	}
	return ^high, high
}
