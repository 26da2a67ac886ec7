package kernels

// The functions of float64 and the conversions to and from float32 are like those of float32.
// Sums, differences, products, quotients, roots and conversions are rounded exactly; the error
// of the others is below one unit in the last place.

// Widen is a as float64, without rounding.
func Widen(dst []float64, a []float32) {
	checkLengths("Widen", len(dst), len(a))
	widenAt(best, dst, a)
}

// Narrow is a rounded to float32.
func Narrow(dst []float32, a []float64) {
	checkLengths("Narrow", len(dst), len(a))
	narrowAt(best, dst, a)
}

// Add64 is a + b.
func Add64(dst, a, b []float64) {
	checkLengths("Add64", len(dst), len(a), len(b))
	add64At(best, dst, a, b)
}

// Sub64 is a - b.
func Sub64(dst, a, b []float64) {
	checkLengths("Sub64", len(dst), len(a), len(b))
	sub64At(best, dst, a, b)
}

// Mul64 is a b.
func Mul64(dst, a, b []float64) {
	checkLengths("Mul64", len(dst), len(a), len(b))
	mul64At(best, dst, a, b)
}

// Div64 is a / b.
func Div64(dst, a, b []float64) {
	checkLengths("Div64", len(dst), len(a), len(b))
	div64At(best, dst, a, b)
}

// Max64 is the larger of a and b; NaN if either is, and 0 rather than -0.
func Max64(dst, a, b []float64) {
	checkLengths("Max64", len(dst), len(a), len(b))
	max64At(best, dst, a, b)
}

// Min64 is the smaller of a and b; NaN if either is, and -0 rather than 0.
func Min64(dst, a, b []float64) {
	checkLengths("Min64", len(dst), len(a), len(b))
	min64At(best, dst, a, b)
}

// Neg64 is -a, also for NaN.
func Neg64(dst, a []float64) {
	checkLengths("Neg64", len(dst), len(a))
	neg64At(best, dst, a)
}

// Abs64 is |a|.
func Abs64(dst, a []float64) {
	checkLengths("Abs64", len(dst), len(a))
	abs64At(best, dst, a)
}

// Sqrt64 is the square root of a: NaN below 0.
func Sqrt64(dst, a []float64) {
	checkLengths("Sqrt64", len(dst), len(a))
	sqrt64At(best, dst, a)
}

// Exp64 is e^a.
func Exp64(dst, a []float64) {
	checkLengths("Exp64", len(dst), len(a))
	exp64At(best, dst, a)
}

// Log64 is the natural logarithm of a: NaN below 0, -Inf at 0.
func Log64(dst, a []float64) {
	checkLengths("Log64", len(dst), len(a))
	log64At(best, dst, a)
}

// Log1p64 is log(1 + a), precise around 0: NaN below -1, -Inf at -1.
func Log1p64(dst, a []float64) {
	checkLengths("Log1p64", len(dst), len(a))
	log1p64At(best, dst, a)
}

// MaxTo sets dst to the larger of dst and a, as Max64.
func MaxTo(dst []float64, a []float32) {
	checkLengths("MaxTo", len(dst), len(a))
	maxToAt(best, dst, a)
}

// MinTo sets dst to the smaller of dst and a, as Min64.
func MinTo(dst []float64, a []float32) {
	checkLengths("MinTo", len(dst), len(a))
	minToAt(best, dst, a)
}
