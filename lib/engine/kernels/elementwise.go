package kernels

import "fmt"

// The elementwise functions set dst[i] from the elements i of the other slices, for all i.
// They panic if the lengths differ. dst may be one of the other slices, but must not overlap
// one otherwise. NaN gives NaN, unless stated otherwise.
//
// Sums, differences, products, quotients and roots are rounded exactly. The others are
// computed in float64 and rounded once: their error is at most 0.501 units in the last place,
// also for subnormal numbers.

// atOnce is the number of elements per call of assembly, which the scheduler cannot
// interrupt.
const atOnce = 1 << 15

func checkLengths(name string, n int, others ...int) {
	for _, m := range others {
		if m != n {
			panic(fmt.Sprintf("kernels.%s: slices of %d and %d elements", name, n, m))
		}
	}
}

// Add is a + b.
func Add(dst, a, b []float32) {
	checkLengths("Add", len(dst), len(a), len(b))
	addAt(best, dst, a, b)
}

// Sub is a - b.
func Sub(dst, a, b []float32) {
	checkLengths("Sub", len(dst), len(a), len(b))
	subAt(best, dst, a, b)
}

// Mul is a b.
func Mul(dst, a, b []float32) {
	checkLengths("Mul", len(dst), len(a), len(b))
	mulAt(best, dst, a, b)
}

// Div is a / b.
func Div(dst, a, b []float32) {
	checkLengths("Div", len(dst), len(a), len(b))
	divAt(best, dst, a, b)
}

// Max is the larger of a and b; NaN if either is, and 0 rather than -0.
func Max(dst, a, b []float32) {
	checkLengths("Max", len(dst), len(a), len(b))
	maxAt(best, dst, a, b)
}

// Min is the smaller of a and b; NaN if either is, and -0 rather than 0.
func Min(dst, a, b []float32) {
	checkLengths("Min", len(dst), len(a), len(b))
	minAt(best, dst, a, b)
}

// Neg is -a, also for NaN.
func Neg(dst, a []float32) {
	checkLengths("Neg", len(dst), len(a))
	negAt(best, dst, a)
}

// Abs is |a|.
func Abs(dst, a []float32) {
	checkLengths("Abs", len(dst), len(a))
	absAt(best, dst, a)
}

// Sign is 1 with the sign of a; a if a is 0 or NaN.
func Sign(dst, a []float32) {
	checkLengths("Sign", len(dst), len(a))
	signAt(best, dst, a)
}

// Sqrt is the square root of a: NaN below 0.
func Sqrt(dst, a []float32) {
	checkLengths("Sqrt", len(dst), len(a))
	sqrtAt(best, dst, a)
}

// Rsqrt is 1 / sqrt(a): NaN below 0, infinite with its sign at 0.
func Rsqrt(dst, a []float32) {
	checkLengths("Rsqrt", len(dst), len(a))
	rsqrtAt(best, dst, a)
}

// Exp is e^a.
func Exp(dst, a []float32) {
	checkLengths("Exp", len(dst), len(a))
	expAt(best, dst, a)
}

// Expm1 is e^a - 1, precise around 0.
func Expm1(dst, a []float32) {
	checkLengths("Expm1", len(dst), len(a))
	expm1At(best, dst, a)
}

// Log is the natural logarithm of a: NaN below 0, -Inf at 0.
func Log(dst, a []float32) {
	checkLengths("Log", len(dst), len(a))
	logAt(best, dst, a)
}

// Log1p is log(1 + a), precise around 0: NaN below -1, -Inf at -1.
func Log1p(dst, a []float32) {
	checkLengths("Log1p", len(dst), len(a))
	log1pAt(best, dst, a)
}

// Tanh is the hyperbolic tangent of a.
func Tanh(dst, a []float32) {
	checkLengths("Tanh", len(dst), len(a))
	tanhAt(best, dst, a)
}

// Logistic is 1 / (1 + e^-a).
func Logistic(dst, a []float32) {
	checkLengths("Logistic", len(dst), len(a))
	logisticAt(best, dst, a)
}

// Erf is the error function of a, 2/sqrt(pi) times the integral of e^(-t^2) from 0 to a.
func Erf(dst, a []float32) {
	checkLengths("Erf", len(dst), len(a))
	erfAt(best, dst, a)
}

// Sin is the sine of a; NaN for the infinities.
func Sin(dst, a []float32) {
	checkLengths("Sin", len(dst), len(a))
	splitAngles(best, dst, a, sinAt, 0)
}

// Cos is the cosine of a; NaN for the infinities.
func Cos(dst, a []float32) {
	checkLengths("Cos", len(dst), len(a))
	splitAngles(best, dst, a, cosAt, 1)
}

// Less is a < b; false if either is NaN.
func Less(dst []bool, a, b []float32) {
	checkLengths("Less", len(dst), len(a), len(b))
	lessAt(best, dst, a, b)
}

// LessEqual is a <= b; false if either is NaN.
func LessEqual(dst []bool, a, b []float32) {
	checkLengths("LessEqual", len(dst), len(a), len(b))
	lessEqualAt(best, dst, a, b)
}

// Greater is a > b; false if either is NaN.
func Greater(dst []bool, a, b []float32) {
	checkLengths("Greater", len(dst), len(a), len(b))
	lessAt(best, dst, b, a)
}

// GreaterEqual is a >= b; false if either is NaN.
func GreaterEqual(dst []bool, a, b []float32) {
	checkLengths("GreaterEqual", len(dst), len(a), len(b))
	lessEqualAt(best, dst, b, a)
}

// Equal is a == b; false if either is NaN.
func Equal(dst []bool, a, b []float32) {
	checkLengths("Equal", len(dst), len(a), len(b))
	equalAt(best, dst, a, b)
}

// NotEqual is a != b; true if either is NaN.
func NotEqual(dst []bool, a, b []float32) {
	checkLengths("NotEqual", len(dst), len(a), len(b))
	notEqualAt(best, dst, a, b)
}

// Select is a where the mask is true and b elsewhere.
func Select(dst []float32, mask []bool, a, b []float32) {
	checkLengths("Select", len(dst), len(mask), len(a), len(b))
	chooseAt(best, dst, mask, a, b)
}

// Fill sets every element to x.
func Fill(dst []float32, x float32) {
	for i := range dst {
		dst[i] = x
	}
}
