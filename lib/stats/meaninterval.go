package stats

import "math"

// MeanInterval returns the mean of x with Student's interval, mean -+ t s/sqrt(n) with n-1 degrees
// of freedom. over is the unit of x ("seeds", "data sets"). The caller sets null value and
// direction; see Estimate.WithNull.
//
// Equal values, such as rates of 1 in three models, give an interval without width. This is not
// certainty: so few values do not show how much others would differ.
//
// There is no error result. A single value, or a level outside (0, 1), gives a mean without an
// interval (Low and High are NaN; Estimate.HasInterval). An empty x, or a value that is not
// finite, makes Value NaN too. encoding/json refuses NaN, so such an estimate cannot be written
// unnoticed.
func MeanInterval(x []float64, level float64, over string) Estimate {
	e := Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Level: level, Over: over, N: len(x)}
	if checkFinite("MeanInterval", "x", x) != nil {
		return e
	}
	e.Value = meanOf(x)
	if len(x) < 2 || checkLevel("MeanInterval", level) != nil {
		return e
	}
	n := float64(len(x))
	half := studentQuantile(0.5+level/2, n-1) * sdOf(x) / math.Sqrt(n)
	e.Low, e.High = e.Value-half, e.Value+half
	return e
}
