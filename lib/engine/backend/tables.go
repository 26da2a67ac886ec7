// The kernels of elementwise operations by operation and type, each a plain loop in Go.

package backend

import (
	"math"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// kernel computes n elements at dst from those at its operands.
type kernel func(n int, dst, a, b, c unsafe.Pointer)

// kernelKey identifies a kernel by its operation and the type of its operands.
type kernelKey struct {
	op    compute.OpType
	dtype dtypes.DType
}

type (
	signed interface {
		~int8 | ~int16 | ~int32 | ~int64
	}
	unsigned interface {
		~uint8 | ~uint16 | ~uint32 | ~uint64
	}
	integer interface{ signed | unsigned }
	float   interface{ ~float32 | ~float64 }
	number  interface{ integer | float }
)

// types are the supported types of tensors.
var types = map[dtypes.DType]bool{
	dtypes.Bool: true, dtypes.Uint8: true, dtypes.Uint16: true, dtypes.Uint32: true, dtypes.Uint64: true,
	dtypes.Int8: true, dtypes.Int16: true, dtypes.Int32: true, dtypes.Int64: true,
	dtypes.Float32: true, dtypes.Float64: true,
}

var (
	unaryKernels  = map[kernelKey]kernel{}
	binaryKernels = map[kernelKey]kernel{}
	selections    = map[dtypes.DType]kernel{}
	conversions   = map[[2]dtypes.DType]kernel{}
)

func sliceAt[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func unaryOf[T, R any](f func(a T) R) kernel {
	return func(n int, dst, a, _, _ unsafe.Pointer) {
		d, x := sliceAt[R](dst, n), sliceAt[T](a, n)
		for i, v := range x {
			d[i] = f(v)
		}
	}
}

func binaryOf[T, R any](f func(a, b T) R) kernel {
	return func(n int, dst, a, b, _ unsafe.Pointer) {
		d, x, y := sliceAt[R](dst, n), sliceAt[T](a, n), sliceAt[T](b, n)
		for i, v := range x {
			d[i] = f(v, y[i])
		}
	}
}

func selectOf[T any](n int, dst, mask, a, b unsafe.Pointer) {
	d, m, x, y := sliceAt[T](dst, n), sliceAt[bool](mask, n), sliceAt[T](a, n), sliceAt[T](b, n)
	for i, yes := range m {
		if yes {
			d[i] = x[i]
		} else {
			d[i] = y[i]
		}
	}
}

func init() {
	addFloats[float32](dtypes.Float32)
	addFloats[float64](dtypes.Float64)
	addSigneds[int8](dtypes.Int8)
	addSigneds[int16](dtypes.Int16)
	addSigneds[int32](dtypes.Int32)
	addSigneds[int64](dtypes.Int64)
	addIntegers[uint8](dtypes.Uint8)
	addIntegers[uint16](dtypes.Uint16)
	addIntegers[uint32](dtypes.Uint32)
	addIntegers[uint64](dtypes.Uint64)
	addBools()
	useKernels()
}

// addNumbers registers the kernels that all number types have.
func addNumbers[T number](t dtypes.DType) {
	selections[t] = selectOf[T]
	argExtremeKernels[t] = findExtreme[T]
	addScatterOps[T](t)
	convertFrom[T](t)
	b := func(op compute.OpType, f func(a, b T) T) { binaryKernels[kernelKey{op, t}] = binaryOf(f) }
	b(compute.OpTypeAdd, func(a, b T) T { return a + b })
	b(compute.OpTypeSub, func(a, b T) T { return a - b })
	b(compute.OpTypeMul, func(a, b T) T { return a * b })
	c := func(op compute.OpType, f func(a, b T) bool) { binaryKernels[kernelKey{op, t}] = binaryOf(f) }
	c(compute.OpTypeEqual, func(a, b T) bool { return a == b })
	c(compute.OpTypeNotEqual, func(a, b T) bool { return a != b })
	c(compute.OpTypeLessThan, func(a, b T) bool { return a < b })
	c(compute.OpTypeLessOrEqual, func(a, b T) bool { return a <= b })
	c(compute.OpTypeGreaterThan, func(a, b T) bool { return a > b })
	c(compute.OpTypeGreaterOrEqual, func(a, b T) bool { return a >= b })
}

func addFloats[T float](t dtypes.DType) {
	addNumbers[T](t)
	b := func(op compute.OpType, f func(a, b T) T) { binaryKernels[kernelKey{op, t}] = binaryOf(f) }
	b(compute.OpTypeDiv, func(a, b T) T { return a / b })
	b(compute.OpTypeMax, larger[T])
	b(compute.OpTypeMin, func(a, b T) T { return -larger(-a, -b) })
	wide := func(f func(a, b float64) float64) func(a, b T) T {
		return func(a, b T) T { return T(f(float64(a), float64(b))) }
	}
	b(compute.OpTypePow, wide(math.Pow))
	b(compute.OpTypeRem, wide(math.Mod))
	b(compute.OpTypeAtan2, wide(math.Atan2))
	for op, f := range map[compute.OpType]func(float64) float64{
		compute.OpTypeAbs: math.Abs, compute.OpTypeCeil: math.Ceil, compute.OpTypeFloor: math.Floor, compute.OpTypeRound: math.RoundToEven,
		compute.OpTypeSqrt: math.Sqrt, compute.OpTypeRsqrt: func(x float64) float64 { return 1 / math.Sqrt(x) },
		compute.OpTypeExp: math.Exp, compute.OpTypeExpm1: math.Expm1, compute.OpTypeLog: math.Log, compute.OpTypeLog1p: math.Log1p,
		compute.OpTypeTanh: math.Tanh, compute.OpTypeLogistic: func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		compute.OpTypeErf: math.Erf, compute.OpTypeSin: math.Sin, compute.OpTypeCos: math.Cos, compute.OpTypeSign: sign[float64],
	} {
		unaryKernels[kernelKey{op, t}] = unaryOf(func(a T) T { return T(f(float64(a))) })
	}
	unaryKernels[kernelKey{compute.OpTypeNeg, t}] = unaryOf(func(a T) T { return -a })
	unaryKernels[kernelKey{compute.OpTypeIsFinite, t}] = unaryOf(func(a T) bool { return a-a == 0 })
	unaryKernels[kernelKey{compute.OpTypeIsNaN, t}] = unaryOf(func(a T) bool { return a != a })
}

// larger returns the larger number, and NaN if either is NaN.
func larger[T float](a, b T) T {
	switch {
	case a != a:
		return a
	case a > b:
		return a
	}
	return b
}

func sign[T signed | float](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func addIntegers[T integer](t dtypes.DType) {
	addNumbers[T](t)
	b := func(op compute.OpType, f func(a, b T) T) { binaryKernels[kernelKey{op, t}] = binaryOf(f) }
	b(compute.OpTypeMax, func(a, b T) T { return max(a, b) })
	b(compute.OpTypeMin, func(a, b T) T { return min(a, b) })
	b(compute.OpTypeDiv, quotient[T])
	b(compute.OpTypeRem, remainder[T])
	b(compute.OpTypePow, power[T])
	b(compute.OpTypeBitwiseAnd, func(a, b T) T { return a & b })
	b(compute.OpTypeBitwiseOr, func(a, b T) T { return a | b })
	b(compute.OpTypeBitwiseXor, func(a, b T) T { return a ^ b })
	b(compute.OpTypeShiftLeft, func(a, b T) T { return a << uint64(b) })
	b(compute.OpTypeShiftRightLogical, shiftRight[T])
	b(compute.OpTypeShiftRightArithmetic, func(a, b T) T { return a >> uint64(b) })
	unaryKernels[kernelKey{compute.OpTypeBitwiseNot, t}] = unaryOf(func(a T) T { return ^a })
}

func addSigneds[T signed](t dtypes.DType) {
	addIntegers[T](t)
	unaryKernels[kernelKey{compute.OpTypeNeg, t}] = unaryOf(func(a T) T { return -a })
	unaryKernels[kernelKey{compute.OpTypeAbs, t}] = unaryOf(func(a T) T { return max(a, -a) })
	unaryKernels[kernelKey{compute.OpTypeSign, t}] = unaryOf(sign[T])
}

// quotient and remainder return XLA's results for the divisor zero: all bits set, and the
// dividend.
func quotient[T integer](a, b T) T {
	if b == 0 {
		return ^T(0)
	}
	return a / b
}

func remainder[T integer](a, b T) T {
	if b == 0 {
		return a
	}
	return a % b
}

func power[T integer](a, b T) T {
	out := T(1)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			out *= a
		}
		a *= a
	}
	return out
}

// shiftRight shifts in zeros, also for negative numbers.
func shiftRight[T integer](a, b T) T {
	width := 8 * uint64(unsafe.Sizeof(a))
	mask := ^uint64(0) >> (64 - width)
	if uint64(b) >= width {
		return 0
	}
	return T(uint64(a) & mask >> uint64(b))
}

func addBools() {
	selections[dtypes.Bool] = selectOf[bool]
	b := func(op compute.OpType, f func(a, b bool) bool) {
		binaryKernels[kernelKey{op, dtypes.Bool}] = binaryOf(f)
	}
	b(compute.OpTypeLogicalAnd, func(a, b bool) bool { return a && b })
	b(compute.OpTypeLogicalOr, func(a, b bool) bool { return a || b })
	b(compute.OpTypeLogicalXor, func(a, b bool) bool { return a != b })
	b(compute.OpTypeEqual, func(a, b bool) bool { return a == b })
	b(compute.OpTypeNotEqual, func(a, b bool) bool { return a != b })
	unaryKernels[kernelKey{compute.OpTypeLogicalNot, dtypes.Bool}] = unaryOf(func(a bool) bool { return !a })
}

func convertFrom[T number](t dtypes.DType) {
	to := func(r dtypes.DType, k kernel) { conversions[[2]dtypes.DType{t, r}] = k }
	to(dtypes.Bool, unaryOf(func(a T) bool { return a != 0 }))
	to(dtypes.Uint8, unaryOf(func(a T) uint8 { return uint8(a) }))
	to(dtypes.Uint16, unaryOf(func(a T) uint16 { return uint16(a) }))
	to(dtypes.Int8, unaryOf(func(a T) int8 { return int8(a) }))
	to(dtypes.Int16, unaryOf(func(a T) int16 { return int16(a) }))
	to(dtypes.Int32, unaryOf(func(a T) int32 { return int32(a) }))
	to(dtypes.Int64, unaryOf(func(a T) int64 { return int64(a) }))
	to(dtypes.Uint32, unaryOf(func(a T) uint32 { return uint32(a) }))
	to(dtypes.Uint64, unaryOf(func(a T) uint64 { return uint64(a) }))
	to(dtypes.Float32, unaryOf(func(a T) float32 { return float32(a) }))
	to(dtypes.Float64, unaryOf(func(a T) float64 { return float64(a) }))
	conversions[[2]dtypes.DType{dtypes.Bool, t}] = unaryOf(func(a bool) T {
		if a {
			return 1
		}
		return 0
	})
	conversions[[2]dtypes.DType{dtypes.Bool, dtypes.Bool}] = unaryOf(func(a bool) bool { return a })
}
