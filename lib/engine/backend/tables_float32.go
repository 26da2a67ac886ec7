package backend

import (
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"

	"github.com/lethe-ml/lethe/lib/engine/kernels"
)

// fast puts the kernels' loops over float32 in the place of the plain ones.
func fast() {
	t := dtypes.Float32
	for op, f := range map[compute.OpType]func(dst, a []float32){
		compute.OpTypeNeg: kernels.Neg, compute.OpTypeAbs: kernels.Abs, compute.OpTypeSqrt: kernels.Sqrt, compute.OpTypeRsqrt: kernels.Rsqrt,
		compute.OpTypeExp: kernels.Exp, compute.OpTypeExpm1: kernels.Expm1, compute.OpTypeLog: kernels.Log, compute.OpTypeLog1p: kernels.Log1p,
		compute.OpTypeTanh: kernels.Tanh, compute.OpTypeLogistic: kernels.Logistic, compute.OpTypeErf: kernels.Erf,
		compute.OpTypeSin: kernels.Sin, compute.OpTypeCos: kernels.Cos,
	} {
		unaryKernels[kernelOf{op, t}] = func(n int, dst, a, _, _ unsafe.Pointer) { f(of[float32](dst, n), of[float32](a, n)) }
	}
	for op, f := range map[compute.OpType]func(dst, a, b []float32){
		compute.OpTypeAdd: kernels.Add, compute.OpTypeSub: kernels.Sub, compute.OpTypeMul: kernels.Mul, compute.OpTypeDiv: kernels.Div,
		compute.OpTypeMax: kernels.Max, compute.OpTypeMin: kernels.Min,
	} {
		binaryKernels[kernelOf{op, t}] = func(n int, dst, a, b, _ unsafe.Pointer) {
			f(of[float32](dst, n), of[float32](a, n), of[float32](b, n))
		}
	}
	for op, f := range map[compute.OpType]func(dst []bool, a, b []float32){
		compute.OpTypeLessThan: kernels.Less, compute.OpTypeLessOrEqual: kernels.LessEqual, compute.OpTypeGreaterThan: kernels.Greater,
		compute.OpTypeGreaterOrEqual: kernels.GreaterEqual, compute.OpTypeEqual: kernels.Equal, compute.OpTypeNotEqual: kernels.NotEqual,
	} {
		binaryKernels[kernelOf{op, t}] = func(n int, dst, a, b, _ unsafe.Pointer) {
			f(of[bool](dst, n), of[float32](a, n), of[float32](b, n))
		}
	}
	selections[t] = func(n int, dst, mask, a, b unsafe.Pointer) {
		kernels.Select(of[float32](dst, n), of[bool](mask, n), of[float32](a, n), of[float32](b, n))
	}
}
