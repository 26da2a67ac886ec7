// Short constructors for axes, nulls and curves.

package plot

import "github.com/lethe-ml/lethe/lib/stats"

// Limit returns a limit of an axis or of a band: Axis{Min: Limit(0)}.
func Limit(v float64) *float64 { return &v }

// ShareAxis returns an axis from 0 to 1.
func ShareAxis(label string) Axis { return Axis{Label: label, Min: Limit(0), Max: Limit(1)} }

// NullBand returns a null with a band that extends reach to both sides.
func NullBand(value, reach float64) *Null {
	return &Null{Value: value, Low: Limit(value - reach), High: Limit(value + reach)}
}

// HorizontalLine returns a control curve at the constant y.
func HorizontalLine(name string, y, from, to float64) Curve {
	return Curve{Name: name, X: []float64{from, to}, Y: []float64{y, y}, Control: true}
}

// Add appends a point with its interval, if it has one. Either all points of a curve have
// intervals or none: a point without one removes the curve's band.
func (c *Curve) Add(x float64, e stats.Estimate) {
	banded := len(c.Low) == len(c.X) && e.HasInterval()
	c.X, c.Y = append(c.X, x), append(c.Y, e.Value)
	if !banded {
		c.Low, c.High = nil, nil
		return
	}
	c.Low, c.High = append(c.Low, e.Low), append(c.High, e.High)
}
