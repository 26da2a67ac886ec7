package backend

import "github.com/gomlx/compute"

// The elementwise operations by name, as compute.Function has them.

// Abs implements compute.Function.
func (f *function) Abs(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeAbs, x)
}

// BitwiseNot implements compute.Function.
func (f *function) BitwiseNot(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeBitwiseNot, x)
}

// Ceil implements compute.Function.
func (f *function) Ceil(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeCeil, x)
}

// Cos implements compute.Function.
func (f *function) Cos(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeCos, x)
}

// Erf implements compute.Function.
func (f *function) Erf(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeErf, x)
}

// Exp implements compute.Function.
func (f *function) Exp(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeExp, x)
}

// Expm1 implements compute.Function.
func (f *function) Expm1(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeExpm1, x)
}

// Floor implements compute.Function.
func (f *function) Floor(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeFloor, x)
}

// IsFinite implements compute.Function.
func (f *function) IsFinite(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeIsFinite, x)
}

// IsNaN implements compute.Function.
func (f *function) IsNaN(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeIsNaN, x)
}

// Log implements compute.Function.
func (f *function) Log(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeLog, x)
}

// Log1p implements compute.Function.
func (f *function) Log1p(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeLog1p, x)
}

// LogicalNot implements compute.Function.
func (f *function) LogicalNot(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeLogicalNot, x)
}

// Logistic implements compute.Function.
func (f *function) Logistic(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeLogistic, x)
}

// Neg implements compute.Function.
func (f *function) Neg(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeNeg, x)
}

// Round implements compute.Function.
func (f *function) Round(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeRound, x)
}

// Rsqrt implements compute.Function.
func (f *function) Rsqrt(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeRsqrt, x)
}

// Sign implements compute.Function.
func (f *function) Sign(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeSign, x)
}

// Sin implements compute.Function.
func (f *function) Sin(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeSin, x)
}

// Sqrt implements compute.Function.
func (f *function) Sqrt(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeSqrt, x)
}

// Tanh implements compute.Function.
func (f *function) Tanh(x compute.Value) (compute.Value, error) {
	return f.perElement(compute.OpTypeTanh, x)
}

// Add implements compute.Function.
func (f *function) Add(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeAdd, a, b)
}

// Atan2 implements compute.Function.
func (f *function) Atan2(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeAtan2, a, b)
}

// BitwiseAnd implements compute.Function.
func (f *function) BitwiseAnd(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeBitwiseAnd, a, b)
}

// BitwiseOr implements compute.Function.
func (f *function) BitwiseOr(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeBitwiseOr, a, b)
}

// BitwiseXor implements compute.Function.
func (f *function) BitwiseXor(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeBitwiseXor, a, b)
}

// Div implements compute.Function.
func (f *function) Div(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeDiv, a, b)
}

// Equal implements compute.Function.
func (f *function) Equal(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeEqual, a, b)
}

// GreaterOrEqual implements compute.Function.
func (f *function) GreaterOrEqual(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeGreaterOrEqual, a, b)
}

// GreaterThan implements compute.Function.
func (f *function) GreaterThan(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeGreaterThan, a, b)
}

// LessOrEqual implements compute.Function.
func (f *function) LessOrEqual(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeLessOrEqual, a, b)
}

// LessThan implements compute.Function.
func (f *function) LessThan(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeLessThan, a, b)
}

// LogicalAnd implements compute.Function.
func (f *function) LogicalAnd(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeLogicalAnd, a, b)
}

// LogicalOr implements compute.Function.
func (f *function) LogicalOr(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeLogicalOr, a, b)
}

// LogicalXor implements compute.Function.
func (f *function) LogicalXor(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeLogicalXor, a, b)
}

// Max implements compute.Function.
func (f *function) Max(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeMax, a, b)
}

// Min implements compute.Function.
func (f *function) Min(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeMin, a, b)
}

// Mul implements compute.Function.
func (f *function) Mul(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeMul, a, b)
}

// NotEqual implements compute.Function.
func (f *function) NotEqual(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeNotEqual, a, b)
}

// Pow implements compute.Function.
func (f *function) Pow(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypePow, a, b)
}

// Rem implements compute.Function.
func (f *function) Rem(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeRem, a, b)
}

// ShiftLeft implements compute.Function.
func (f *function) ShiftLeft(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeShiftLeft, a, b)
}

// ShiftRightArithmetic implements compute.Function.
func (f *function) ShiftRightArithmetic(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeShiftRightArithmetic, a, b)
}

// ShiftRightLogical implements compute.Function.
func (f *function) ShiftRightLogical(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeShiftRightLogical, a, b)
}

// Sub implements compute.Function.
func (f *function) Sub(a, b compute.Value) (compute.Value, error) {
	return f.pair(compute.OpTypeSub, a, b)
}
