// Sliders of Interact: a variable of the cell with its range and positions.

package nb

import (
	"math"
	"slices"
	"strconv"
)

// Slider is a variable of the cell that a reader can change in Interact.
type Slider struct {
	name     string
	min, max float64
	step     float64
	log      bool
	whole    bool
	initial  float64
	set      func(float64)
}

// NewSlider makes a slider for a variable of the cell, between min and max. It starts at
// the variable's value, which is also the value where there are no sliders.
func NewSlider[T int | float64](name string, variable *T, min, max T) Slider {
	_, isInt := any(*variable).(int)
	return Slider{
		name: oneLine(name), min: float64(min), max: float64(max), whole: isInt,
		initial: float64(*variable),
		set:     func(v float64) { *variable = T(v) },
	}
}

// Log makes the slider logarithmic: equal distances are equal factors. min and max must be
// positive.
func (s Slider) Log() Slider {
	s.log = true
	return s
}

// Step sets the distance between two positions.
func (s Slider) Step(step float64) Slider {
	s.step = step
	return s
}

// defaultPositions is the number of positions of a slider without Step.
const defaultPositions = 60

// positions returns the values that the slider can take, in ascending order and including
// the initial one.
func (s Slider) positions() []float64 {
	values := []float64{s.initial}
	add := func(v float64) {
		if s.whole {
			v = math.Round(v)
		}
		if v >= s.min && v <= s.max {
			values = append(values, v)
		}
	}
	n := defaultPositions
	if s.step > 0 {
		n = int(math.Min(1000, math.Floor((s.max-s.min)/s.step+1e-9)))
	}
	for i := 0; i <= n; i++ {
		part := float64(i) / float64(n)
		switch {
		case s.log && s.min > 0:
			add(roundDigits(s.min*math.Pow(s.max/s.min, part), 2))
		case s.step > 0:
			add(roundDigits(s.min+float64(i)*s.step, 12))
		default:
			add(roundDigits(s.min+part*(s.max-s.min), 3))
		}
	}
	values = append(values, s.min, s.max)
	slices.Sort(values)
	return slices.Compact(values)
}

// roundDigits rounds v to a number of significant digits.
func roundDigits(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return r
}

// formatValue prints a value as it stands beside the slider.
func formatValue(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
