package plot

import "github.com/lethe-ml/lethe/lib/stats"

// At is the limit of an axis or of a band: Axis{Min: At(0)}.
func At(v float64) *float64 { return &v }

// Shares is an axis from 0 to 1.
func Shares(label string) Axis { return Axis{Label: label, Min: At(0), Max: At(1)} }

// Around is a null with a band that reaches as far to both sides.
func Around(value, reach float64) *Null {
	return &Null{Value: value, Low: At(value - reach), High: At(value + reach)}
}

// Level is a level line between two ends, to compare a curve with: a control.
func Level(name string, y, from, to float64) Curve {
	return Curve{Name: name, X: []float64{from, to}, Y: []float64{y, y}, Control: true}
}

// Add appends a point with its interval, if it has one. Points of one curve have
// intervals all or none: what has none leaves the curve without a band.
func (c *Curve) Add(x float64, e stats.Estimate) {
	banded := len(c.Low) == len(c.X) && e.HasInterval()
	c.X, c.Y = append(c.X, x), append(c.Y, e.Value)
	if !banded {
		c.Low, c.High = nil, nil
		return
	}
	c.Low, c.High = append(c.Low, e.Low), append(c.High, e.High)
}
