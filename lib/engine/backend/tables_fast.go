// The elementwise operations on floats for which vectorised kernels replace the plain loops.

package backend

import (
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// useKernels replaces loops by the functions of package kernels.
func useKernels() {
	useLoops(dtypes.Float32, map[compute.OpType]func(dst, a []float32){
		compute.OpTypeNeg: kernels.Neg, compute.OpTypeAbs: kernels.Abs, compute.OpTypeSign: kernels.Sign,
		compute.OpTypeSqrt: kernels.Sqrt, compute.OpTypeRsqrt: kernels.Rsqrt,
		compute.OpTypeExp: kernels.Exp, compute.OpTypeExpm1: kernels.Expm1, compute.OpTypeLog: kernels.Log, compute.OpTypeLog1p: kernels.Log1p,
		compute.OpTypeTanh: kernels.Tanh, compute.OpTypeLogistic: kernels.Logistic, compute.OpTypeErf: kernels.Erf,
		compute.OpTypeSin: kernels.Sin, compute.OpTypeCos: kernels.Cos,
	}, map[compute.OpType]func(dst, a, b []float32){
		compute.OpTypeAdd: kernels.Add, compute.OpTypeSub: kernels.Sub, compute.OpTypeMul: kernels.Mul, compute.OpTypeDiv: kernels.Div,
		compute.OpTypeMax: kernels.Max, compute.OpTypeMin: kernels.Min,
	})
	useLoops(dtypes.Float64, map[compute.OpType]func(dst, a []float64){
		compute.OpTypeNeg: kernels.Neg64, compute.OpTypeAbs: kernels.Abs64, compute.OpTypeSqrt: kernels.Sqrt64,
		compute.OpTypeExp: kernels.Exp64, compute.OpTypeLog: kernels.Log64, compute.OpTypeLog1p: kernels.Log1p64,
	}, map[compute.OpType]func(dst, a, b []float64){
		compute.OpTypeAdd: kernels.Add64, compute.OpTypeSub: kernels.Sub64, compute.OpTypeMul: kernels.Mul64, compute.OpTypeDiv: kernels.Div64,
		compute.OpTypeMax: kernels.Max64, compute.OpTypeMin: kernels.Min64,
	})
	conversions[[2]dtypes.DType{dtypes.Float32, dtypes.Float64}] = fastUnary(kernels.Widen)
	conversions[[2]dtypes.DType{dtypes.Float64, dtypes.Float32}] = fastUnary(kernels.Narrow)
	useRelations()
}

func fastUnary[T, R any](f func(dst []R, a []T)) kernel {
	return func(n int, dst, a, _, _ unsafe.Pointer) { f(sliceAt[R](dst, n), sliceAt[T](a, n)) }
}

func fastBinary[T, R any](f func(dst []R, a, b []T)) kernel {
	return func(n int, dst, a, b, _ unsafe.Pointer) { f(sliceAt[R](dst, n), sliceAt[T](a, n), sliceAt[T](b, n)) }
}

func useLoops[T float](t dtypes.DType, unary map[compute.OpType]func(dst, a []T), binary map[compute.OpType]func(dst, a, b []T)) {
	for op, f := range unary {
		unaryKernels[kernelKey{op, t}] = fastUnary(f)
	}
	for op, f := range binary {
		binaryKernels[kernelKey{op, t}] = fastBinary(f)
	}
}

// useRelations registers the comparisons of float32 and the selection by a mask.
func useRelations() {
	t := dtypes.Float32
	for op, f := range map[compute.OpType]func(dst []bool, a, b []float32){
		compute.OpTypeLessThan: kernels.Less, compute.OpTypeLessOrEqual: kernels.LessEqual, compute.OpTypeGreaterThan: kernels.Greater,
		compute.OpTypeGreaterOrEqual: kernels.GreaterEqual, compute.OpTypeEqual: kernels.Equal, compute.OpTypeNotEqual: kernels.NotEqual,
	} {
		binaryKernels[kernelKey{op, t}] = fastBinary(f)
	}
	selections[t] = func(n int, dst, mask, a, b unsafe.Pointer) {
		kernels.Select(sliceAt[float32](dst, n), sliceAt[bool](mask, n), sliceAt[float32](a, n), sliceAt[float32](b, n))
	}
}
