package stats

import "math"

// accumulator adds float64 values with Neumaier's compensation: the error of the
// sum does not grow with the number of terms. The zero value is an empty sum.
type accumulator struct{ sum, lost float64 }

// add rounds v first, so that no processor fuses the product that made it with
// the addition.
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

// meanOf returns the mean of a slice that is not empty.
func meanOf(x []float64) float64 { return sumOf(x) / float64(len(x)) }

// squaresAbout returns the compensated sum of (x - c)^2.
func squaresAbout(x []float64, c float64) float64 {
	var a accumulator
	for _, v := range x {
		d := v - c
		a.add(float64(d * d))
	}
	return a.value()
}
