package stats

import "math"

// accumulator adds float64 values with Neumaier's compensation: the error of the sum does not grow
// with the number of terms. The zero value is an empty sum.
type accumulator struct{ sum, lost float64 }

// add rounds v first, so that no processor fuses a product with the addition.
func (a *accumulator) add(v float64) {
	v = float64(v)
	t := a.sum + v
	if math.Abs(a.sum) >= math.Abs(v) {
		a.lost += (a.sum - t) + v
	} else {
		a.lost += (v - t) + a.sum
	}
	a.sum = t
}

// value returns the sum; an infinite one where it left the range of float64.
func (a *accumulator) value() float64 {
	if math.IsInf(a.sum, 0) {
		return a.sum
	}
	return a.sum + a.lost
}

// sumOf returns the compensated sum of x.
func sumOf(x []float64) float64 {
	var a accumulator
	for _, v := range x {
		a.add(v)
	}
	return a.value()
}

// meanOf returns the mean of a slice that is not empty. If the sum overflows float64, the values
// are divided before they are added.
func meanOf(x []float64) float64 {
	n := float64(len(x))
	if m := sumOf(x) / n; !math.IsInf(m, 0) {
		return m
	}
	var a accumulator
	for _, v := range x {
		a.add(v / n)
	}
	return a.value()
}

// squaresAbout returns the compensated sum of (x - c)^2.
func squaresAbout(x []float64, c float64) float64 {
	var a accumulator
	for _, v := range x {
		d := v - c
		a.add(float64(d * d))
	}
	return a.value()
}

// rootSquares returns sqrt(sum (x - mean)^2 / divisor), also if a square overflows or underflows
// float64.
func rootSquares(x []float64, divisor float64) float64 {
	largest := 0.0
	for _, v := range x {
		largest = max(largest, math.Abs(v))
	}
	e := Binade(largest)
	if e == 0 {
		return math.Sqrt(squaresAbout(x, meanOf(x)) / divisor)
	}
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Ldexp(v, -e)
	}
	return math.Ldexp(math.Sqrt(squaresAbout(y, meanOf(y))/divisor), e)
}
