// The elementwise operations by name, as compute.Function has them.

package stacked

import "github.com/gomlx/compute"

// Abs implements compute.Function.
func (f *function) Abs(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeAbs, compute.Function.Abs, x)
}

// BitCount implements compute.Function.
func (f *function) BitCount(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeBitCount, compute.Function.BitCount, x)
}

// BitwiseNot implements compute.Function.
func (f *function) BitwiseNot(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeBitwiseNot, compute.Function.BitwiseNot, x)
}

// Ceil implements compute.Function.
func (f *function) Ceil(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeCeil, compute.Function.Ceil, x)
}

// Clz implements compute.Function.
func (f *function) Clz(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeClz, compute.Function.Clz, x)
}

// Conj implements compute.Function.
func (f *function) Conj(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeConj, compute.Function.Conj, x)
}

// Cos implements compute.Function.
func (f *function) Cos(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeCos, compute.Function.Cos, x)
}

// Erf implements compute.Function.
func (f *function) Erf(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeErf, compute.Function.Erf, x)
}

// Exp implements compute.Function.
func (f *function) Exp(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeExp, compute.Function.Exp, x)
}

// Expm1 implements compute.Function.
func (f *function) Expm1(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeExpm1, compute.Function.Expm1, x)
}

// Floor implements compute.Function.
func (f *function) Floor(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeFloor, compute.Function.Floor, x)
}

// Identity implements compute.Function.
func (f *function) Identity(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeIdentity, compute.Function.Identity, x)
}

// Imag implements compute.Function.
func (f *function) Imag(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeImag, compute.Function.Imag, x)
}

// IsFinite implements compute.Function.
func (f *function) IsFinite(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeIsFinite, compute.Function.IsFinite, x)
}

// IsNaN implements compute.Function.
func (f *function) IsNaN(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeIsNaN, compute.Function.IsNaN, x)
}

// Log implements compute.Function.
func (f *function) Log(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeLog, compute.Function.Log, x)
}

// Log1p implements compute.Function.
func (f *function) Log1p(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeLog1p, compute.Function.Log1p, x)
}

// LogicalNot implements compute.Function.
func (f *function) LogicalNot(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeLogicalNot, compute.Function.LogicalNot, x)
}

// Logistic implements compute.Function.
func (f *function) Logistic(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeLogistic, compute.Function.Logistic, x)
}

// Neg implements compute.Function.
func (f *function) Neg(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeNeg, compute.Function.Neg, x)
}

// Real implements compute.Function.
func (f *function) Real(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeReal, compute.Function.Real, x)
}

// Round implements compute.Function.
func (f *function) Round(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeRound, compute.Function.Round, x)
}

// Rsqrt implements compute.Function.
func (f *function) Rsqrt(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeRsqrt, compute.Function.Rsqrt, x)
}

// Sign implements compute.Function.
func (f *function) Sign(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeSign, compute.Function.Sign, x)
}

// Sin implements compute.Function.
func (f *function) Sin(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeSin, compute.Function.Sin, x)
}

// Sqrt implements compute.Function.
func (f *function) Sqrt(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeSqrt, compute.Function.Sqrt, x)
}

// Tanh implements compute.Function.
func (f *function) Tanh(x compute.Value) (compute.Value, error) {
	return f.unary(compute.OpTypeTanh, compute.Function.Tanh, x)
}

// Add implements compute.Function.
func (f *function) Add(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeAdd, compute.Function.Add, a, b)
}

// Atan2 implements compute.Function.
func (f *function) Atan2(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeAtan2, compute.Function.Atan2, a, b)
}

// BitwiseAnd implements compute.Function.
func (f *function) BitwiseAnd(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeBitwiseAnd, compute.Function.BitwiseAnd, a, b)
}

// BitwiseOr implements compute.Function.
func (f *function) BitwiseOr(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeBitwiseOr, compute.Function.BitwiseOr, a, b)
}

// BitwiseXor implements compute.Function.
func (f *function) BitwiseXor(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeBitwiseXor, compute.Function.BitwiseXor, a, b)
}

// Complex implements compute.Function.
func (f *function) Complex(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeComplex, compute.Function.Complex, a, b)
}

// Div implements compute.Function.
func (f *function) Div(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeDiv, compute.Function.Div, a, b)
}

// Equal implements compute.Function.
func (f *function) Equal(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeEqual, compute.Function.Equal, a, b)
}

// EqualTotalOrder implements compute.Function.
func (f *function) EqualTotalOrder(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeEqualTotalOrder, compute.Function.EqualTotalOrder, a, b)
}

// GreaterOrEqual implements compute.Function.
func (f *function) GreaterOrEqual(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeGreaterOrEqual, compute.Function.GreaterOrEqual, a, b)
}

// GreaterOrEqualTotalOrder implements compute.Function.
func (f *function) GreaterOrEqualTotalOrder(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeGreaterOrEqualTotalOrder, compute.Function.GreaterOrEqualTotalOrder, a, b)
}

// GreaterThan implements compute.Function.
func (f *function) GreaterThan(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeGreaterThan, compute.Function.GreaterThan, a, b)
}

// GreaterThanTotalOrder implements compute.Function.
func (f *function) GreaterThanTotalOrder(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeGreaterThanTotalOrder, compute.Function.GreaterThanTotalOrder, a, b)
}

// LessOrEqual implements compute.Function.
func (f *function) LessOrEqual(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLessOrEqual, compute.Function.LessOrEqual, a, b)
}

// LessOrEqualTotalOrder implements compute.Function.
func (f *function) LessOrEqualTotalOrder(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLessOrEqualTotalOrder, compute.Function.LessOrEqualTotalOrder, a, b)
}

// LessThan implements compute.Function.
func (f *function) LessThan(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLessThan, compute.Function.LessThan, a, b)
}

// LessThanTotalOrder implements compute.Function.
func (f *function) LessThanTotalOrder(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLessThanTotalOrder, compute.Function.LessThanTotalOrder, a, b)
}

// LogicalAnd implements compute.Function.
func (f *function) LogicalAnd(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLogicalAnd, compute.Function.LogicalAnd, a, b)
}

// LogicalOr implements compute.Function.
func (f *function) LogicalOr(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLogicalOr, compute.Function.LogicalOr, a, b)
}

// LogicalXor implements compute.Function.
func (f *function) LogicalXor(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeLogicalXor, compute.Function.LogicalXor, a, b)
}

// Max implements compute.Function.
func (f *function) Max(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeMax, compute.Function.Max, a, b)
}

// Min implements compute.Function.
func (f *function) Min(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeMin, compute.Function.Min, a, b)
}

// Mul implements compute.Function.
func (f *function) Mul(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeMul, compute.Function.Mul, a, b)
}

// NotEqual implements compute.Function.
func (f *function) NotEqual(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeNotEqual, compute.Function.NotEqual, a, b)
}

// NotEqualTotalOrder implements compute.Function.
func (f *function) NotEqualTotalOrder(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeNotEqualTotalOrder, compute.Function.NotEqualTotalOrder, a, b)
}

// Pow implements compute.Function.
func (f *function) Pow(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypePow, compute.Function.Pow, a, b)
}

// Rem implements compute.Function.
func (f *function) Rem(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeRem, compute.Function.Rem, a, b)
}

// ShiftLeft implements compute.Function.
func (f *function) ShiftLeft(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeShiftLeft, compute.Function.ShiftLeft, a, b)
}

// ShiftRightArithmetic implements compute.Function.
func (f *function) ShiftRightArithmetic(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeShiftRightArithmetic, compute.Function.ShiftRightArithmetic, a, b)
}

// ShiftRightLogical implements compute.Function.
func (f *function) ShiftRightLogical(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeShiftRightLogical, compute.Function.ShiftRightLogical, a, b)
}

// Sub implements compute.Function.
func (f *function) Sub(a, b compute.Value) (compute.Value, error) {
	return f.binary(compute.OpTypeSub, compute.Function.Sub, a, b)
}
