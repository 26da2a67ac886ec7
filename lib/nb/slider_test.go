// Tests of slider.go.

package nb

import (
	"math"
	"strings"
	"testing"
)

// checkPositions checks that a slider has at most that many positions in ascending order, with
// both ends and the value in the code.
func checkPositions[T int | float64](t *testing.T, s Slider[T], most int) {
	t.Helper()
	p, err := s.positions()
	if err != nil || len(p) > most || len(p) < 2 {
		t.Fatalf("%q has %d positions: %v, %v", s.name, len(p), p, err)
	}
	_, whole := any(s.min).(int)
	found := false
	for i, v := range p {
		found = found || v == float64(s.initial)
		if i > 0 && v <= p[i-1] {
			t.Errorf("%q: %v follows %v", s.name, v, p[i-1])
		}
		if whole && v != math.Round(v) {
			t.Errorf("%q stands at %v", s.name, v)
		}
	}
	if p[0] != float64(s.min) || p[len(p)-1] != float64(s.max) || !found {
		t.Errorf("%q goes from %v to %v, its start is there: %v", s.name, p[0], p[len(p)-1], found)
	}
}

func TestSlidersReachBothEndsAndTheirStart(t *testing.T) {
	rate, epochs, share := 0.07, 7, 0.05
	checkPositions(t, NewSlider("rate", &rate, 0.001, 1).Log(), defaultPositions+3)
	checkPositions(t, NewSlider("epochs", &epochs, 1, 20), 20)
	checkPositions(t, NewSlider("epochs", &epochs, 1, 500).Log(), defaultPositions+3)
	checkPositions(t, NewSlider("share", &share, 0, 0.2).Step(0.05), 5)
	checkPositions(t, NewSlider("share", &share, 0, 0.2).Step(1e-9), 1003)
}

func TestControlsThatMakeNoSenseAreRefused(t *testing.T) {
	x, n, word := 0.5, 5, "b"
	none := func() []string { return nil }
	for name, list := range map[string][]Control{
		`"x" goes from 1 to 0`:                          {NewSlider("x", &x, 1, 0)},
		`"x" has equal factors and starts at 0`:         {NewSlider("x", &x, 0, 1).Log()},
		`"x" goes from 0.6 to 1, its variable is 0.5`:   {NewSlider("x", &x, 0.6, 1)},
		`"x" goes from NaN to 1`:                        {NewSlider("x", &x, math.NaN(), 1)},
		`"x" goes from 0 to +Inf; it needs ends`:        {NewSlider("x", &x, 0, math.Inf(1))},
		`"n" has no position: RangeFrom gives 20 to 30`: {NewSlider("n", &n, 1, 10).RangeFrom(func() (int, int) { return 20, 30 })},
		`"n" goes from 1 to 3, its variable is 5`:       {NewSlider("n", &n, 1, 10).RangeFrom(func() (int, int) { return 1, 3 })},
		`"word" has the options [a c], its variable`:    {NewDropdown("word", &word, "a", "c")},
		`"word" has 0 options; it needs 1 to 1000`:      {NewDropdown("word", &word).OptionsFrom(none)},
		`"word" has two options that read "b"`:          {NewDropdown("word", &word, "b", "b ")},
		`two controls are called "x"`:                   {NewSlider("x", &x, 0, 1), NewSlider("x", &x, 0, 1)},
	} {
		if _, err := newControls(list); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("want %s, got %v", name, err)
		}
	}
}
