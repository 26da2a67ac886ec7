// The folds of each number type: sum, product, maximum and minimum; floats accumulate in float64.

package backend

import (
	"math"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// addFloatFolds registers the folds of a float type; they add and multiply in float64.
func addFloatFolds[T float](t dtypes.DType) {
	sum := func(a, b float64) float64 { return a + b }
	times := func(a, b float64) float64 { return a * b }
	least := func(a, b float64) float64 { return -larger(-a, -b) }
	rounded := func(a float64) T { return T(a) }
	folds[kernelKey{compute.OpTypeReduceSum, t}] = newFold(0.0, func(a float64, v T) float64 { return a + float64(v) }, sum, rounded)
	folds[kernelKey{compute.OpTypeReduceProduct, t}] = newFold(1.0, func(a float64, v T) float64 { return a * float64(v) }, times, rounded)
	most := func(a float64, v T) float64 { return larger(a, float64(v)) }
	folds[kernelKey{compute.OpTypeReduceMax, t}] = newFold(math.Inf(-1), most, larger[float64], rounded)
	folds[kernelKey{compute.OpTypeReduceMin, t}] = newFold(math.Inf(1), func(a float64, v T) float64 { return least(a, float64(v)) }, least, rounded)
}

// useFoldKernels replaces loops by kernels for float32, and for sums over rows of float64.
// The accumulators are float64.
func useFoldKernels() {
	sum := folds[kernelKey{compute.OpTypeReduceSum, dtypes.Float32}]
	sum.along = func(acc *uint64, from unsafe.Pointer, n int) {
		floats64(acc, 1)[0] += kernels.Sum(sliceAt[float32](from, n))
	}
	sum.across = func(acc []uint64, from unsafe.Pointer, rows int) {
		kernels.AddRows(floats64(&acc[0], len(acc)), sliceAt[float32](from, rows*len(acc)), len(acc), rows)
	}
	sum.end = narrow
	folds[kernelKey{compute.OpTypeReduceSum, dtypes.Float64}].across = func(acc []uint64, from unsafe.Pointer, rows int) {
		sums := floats64(&acc[0], len(acc))
		for x := sliceAt[float64](from, rows*len(acc)); len(x) > 0; x = x[len(acc):] {
			kernels.Add64(sums, sums, x[:len(acc)])
		}
	}
	useExtremeKernels(compute.OpTypeReduceMax, kernels.Largest, kernels.MaxTo)
	useExtremeKernels(compute.OpTypeReduceMin, kernels.Smallest, kernels.MinTo)
}

// useExtremeKernels registers the kernels of a maximum or minimum.
func useExtremeKernels(op compute.OpType, row func(a []float32) float32, to func(dst []float64, a []float32)) {
	f := folds[kernelKey{op, dtypes.Float32}]
	f.along = func(acc *uint64, from unsafe.Pointer, n int) {
		to(floats64(acc, 1), []float32{row(sliceAt[float32](from, n))})
	}
	f.across = func(acc []uint64, from unsafe.Pointer, rows int) {
		for x := sliceAt[float32](from, rows*len(acc)); len(x) > 0; x = x[len(acc):] {
			to(floats64(&acc[0], len(acc)), x[:len(acc)])
		}
	}
	f.end = narrow
}

// narrow stores accumulators of float64 as float32.
func narrow(to unsafe.Pointer, acc []uint64) {
	kernels.Narrow(sliceAt[float32](to, len(acc)), floats64(unsafe.SliceData(acc), len(acc)))
}

func floats64(acc *uint64, n int) []float64 { return sliceAt[float64](unsafe.Pointer(acc), n) }

func addIntegerFolds[T integer](t dtypes.DType) {
	add := func(a, b T) T { return a + b }
	times := func(a, b T) T { return a * b }
	most := func(a, b T) T { return max(a, b) }
	least := func(a, b T) T { return min(a, b) }
	self := func(a T) T { return a }
	low, high := limits[T]()
	folds[kernelKey{compute.OpTypeReduceSum, t}] = newFold(T(0), add, add, self)
	folds[kernelKey{compute.OpTypeReduceProduct, t}] = newFold(T(1), times, times, self)
	folds[kernelKey{compute.OpTypeReduceMax, t}] = newFold(low, most, most, self)
	folds[kernelKey{compute.OpTypeReduceMin, t}] = newFold(high, least, least, self)
}

// limits returns the smallest and the largest number of a type.
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
