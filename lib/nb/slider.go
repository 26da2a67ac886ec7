// Sliders of Interact: a number of the cell with its range and positions.

package nb

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Slider is a number of the cell that a reader can change in Interact. NewSlider makes it.
type Slider[T int | float64] struct {
	name     string
	variable *T
	initial  T
	min, max T
	rangeNow func() (min, max T) // nil: min and max hold always
	step     T
	log      bool
}

// NewSlider makes a slider for a variable of the cell, between min and max. It starts at the
// variable's value, which is also the value where there are no sliders. A slider of an int has
// whole numbers only.
func NewSlider[T int | float64](name string, variable *T, min, max T) Slider[T] {
	return Slider[T]{name: oneLine(name), variable: variable, initial: *variable, min: min, max: max}
}

// Log makes the slider logarithmic: equal distances are equal factors. min and max must be
// positive.
func (s Slider[T]) Log() Slider[T] {
	s.log = true
	return s
}

// Step sets the distance between two positions.
func (s Slider[T]) Step(step T) Slider[T] {
	s.step = step
	return s
}

// RangeFrom makes the range follow other controls: ends returns it, from variables of controls
// that stand before this one in Interact's arguments. It is called after every change; the
// slider never leaves the range of NewSlider, and a value outside the new range moves to its
// nearest end.
//
//	records, forgotten := 100, 10
//	nb.NewSlider("records", &records, 20, 500),
//	nb.NewSlider("forgotten", &forgotten, 1, 500).RangeFrom(func() (int, int) { return 1, records / 2 })
func (s Slider[T]) RangeFrom(ends func() (min, max T)) Slider[T] {
	s.rangeNow = ends
	return s
}

func (s Slider[T]) control() *control {
	return &control{
		name: s.name, kind: "slider", follows: s.rangeNow != nil,
		choices: s.choices,
		get:     func() any { return float64(*s.variable) },
		set:     func(v any) { *s.variable = T(v.(float64)) },
		print:   func(v any) string { return formatValue(v.(float64)) },
	}
}

// choices returns the positions as values of a control.
func (s Slider[T]) choices() ([]any, error) {
	positions, err := s.positions()
	values := make([]any, len(positions))
	for i, v := range positions {
		values[i] = v
	}
	return values, err
}

// ends returns the range that holds now.
func (s Slider[T]) ends() (low, high T, err error) {
	low, high = s.min, s.max
	if s.rangeNow == nil && !(low < high) {
		return low, high, fmt.Errorf("the slider %q goes from %v to %v", s.name, low, high)
	}
	if s.rangeNow != nil {
		from, to := s.rangeNow()
		low, high = max(low, from), min(high, to)
		if !(low <= high) {
			return low, high, fmt.Errorf("the slider %q has no position: RangeFrom gives %v to %v, NewSlider %v to %v", s.name, from, to, s.min, s.max)
		}
	}
	if math.IsInf(float64(low), 0) || math.IsInf(float64(high), 0) {
		return low, high, fmt.Errorf("the slider %q goes from %v to %v; it needs ends", s.name, low, high)
	}
	if s.log && low <= 0 {
		return low, high, fmt.Errorf("the slider %q has equal factors and starts at %v; that needs more than 0", s.name, low)
	}
	return low, high, nil
}

// defaultPositions is the number of positions of a slider without Step.
const defaultPositions = 60

// positions returns the values that the slider can take now, in ascending order, with both ends
// of the range and, if it lies between them, the value in the code.
func (s Slider[T]) positions() ([]float64, error) {
	from, to, err := s.ends()
	if err != nil {
		return nil, err
	}
	low, high, step := float64(from), float64(to), float64(s.step)
	_, whole := any(s.min).(int)
	values := []float64{low, high}
	add := func(v float64) {
		if whole {
			v = math.Round(v)
		}
		if v >= low && v <= high {
			values = append(values, v)
		}
	}
	add(float64(s.initial))
	n := defaultPositions
	if step > 0 {
		n = int(math.Min(1000, math.Floor((high-low)/step+1e-9)))
	}
	for i := 0; i <= n; i++ {
		part := float64(i) / float64(max(1, n))
		switch {
		case s.log:
			add(roundDigits(low*math.Pow(high/low, part), 2))
		case step > 0:
			add(roundDigits(low+float64(i)*step, 12))
		default:
			add(roundDigits(low+part*(high-low), 3))
		}
	}
	slices.Sort(values)
	return slices.Compact(values), nil
}

// roundDigits rounds v to a number of significant digits.
func roundDigits(v float64, digits int) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	return r
}

// formatValue prints a value as it stands beside the slider.
func formatValue(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
