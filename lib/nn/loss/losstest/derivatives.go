// The checks of what a loss depends on: declared outputs, its own record, and the derivatives.

package losstest

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// checkDeclared builds the loss on networks that lack one output. It must be built wherever Inputs
// returns no error.
func (s *suite) checkDeclared(t *testing.T) {
	asked := false
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		widths, others := maps.Clone(outputs), maps.Clone(s.outputs)
		delete(widths, name)
		delete(others, name)
		want, err := s.l.Inputs(widths)
		if err != nil {
			asked = true
			continue
		}
		bare := *s
		bare.inputs = map[string]array.Matrix[float32]{}
		for name := range want {
			bare.inputs[name] = s.inputs[name]
		}
		if _, _, err := bare.tryEvaluate(others); err != nil {
			t.Errorf("the loss %s uses the output %q, and its Inputs accepts a network without it: %v", s.l.Name(), name, err)
		}
	}
	if !asked {
		t.Errorf("the loss %s accepts a network without any one of its outputs", s.l.Name())
	}
}

// perturbed returns a copy of outputs with element j of one changed, in the given records, by
// step times what the element allows.
func perturbed(outputs map[string]array.Matrix[float32], name string, j int, records []int, step func(v float64) float64) map[string]array.Matrix[float32] {
	out := maps.Clone(outputs)
	m := out[name]
	m.Data = slices.Clone(m.Data)
	for _, i := range records {
		m.Row(i)[j] = float32(float64(m.Row(i)[j]) + step(float64(m.Row(i)[j])))
	}
	out[name] = m
	return out
}

func (s *suite) checkIndependence(t *testing.T) {
	before, _ := s.evaluate(t, s.outputs)
	for name := range s.outputs {
		after, _ := s.evaluate(t, perturbed(s.outputs, name, 0, []int{2}, func(float64) float64 { return 0.5 }))
		for i := range before {
			if i != 2 && before[i] != after[i] {
				t.Errorf("the loss of record %d depends on %s of record 2", i, name)
			}
		}
	}
}

// farOutputs returns outputs eight times as far from zero, where clipping and saturation show.
func (s *suite) farOutputs() map[string]array.Matrix[float32] {
	out := map[string]array.Matrix[float32]{}
	for name, m := range s.outputs {
		if name != loss.Proportion { // its rows sum to 1
			m.Data = slices.Clone(m.Data)
			for i := range m.Data {
				m.Data[i] *= 8
			}
		}
		out[name] = m
	}
	return out
}

// A difference is a central difference of a record's loss by an element of an output.
type difference struct {
	record, element   int
	given, want, blur float64 // blur: the error of want by rounding
}

// agrees reports whether the derivative is the difference, relative to the largest derivative by the
// same output, so that a loss with a small factor is held to as many digits.
func (d difference) agrees(largest float64) bool {
	return math.Abs(d.given-d.want) <= 2e-3*(min(1, largest)+math.Abs(d.want))+d.blur
}

func (s *suite) checkDerivatives(t *testing.T, at map[string]array.Matrix[float32]) {
	_, got := s.evaluate(t, at)
	some := false
	for _, name := range slices.Sorted(maps.Keys(at)) {
		compared := s.differences(t, at, name, got[name])
		largest := 0.0
		for _, d := range compared {
			largest = max(largest, math.Abs(d.want))
		}
		some = some || largest > 0
		wrong := 0
		for _, d := range compared {
			if d.agrees(largest) {
				continue
			}
			if wrong++; wrong <= 3 {
				t.Errorf("by %s, element %d of record %d: %v, by differences %v", name, d.element, d.record, d.given, d.want)
			}
		}
		if wrong > 3 {
			t.Errorf("by %s: %d of %d derivatives are wrong", name, wrong, len(compared))
		}
	}
	if !some {
		t.Error("the loss depends on no output")
	}
}

// differences compares the given derivatives by an output with central differences. All records
// change together: each loss depends on its own record.
func (s *suite) differences(t *testing.T, at map[string]array.Matrix[float32], name string, given []float64) (out []difference) {
	t.Helper()
	all := allRecords()
	for j := range at[name].Cols {
		step := func(v float64) float64 {
			if name == loss.Proportion { // positive, and small
				return 3e-2 * v
			}
			return 1e-2
		}
		above := perturbed(at, name, j, all, step)
		below := perturbed(at, name, j, all, func(v float64) float64 { return -step(v) })
		up, _ := s.evaluate(t, above)
		down, _ := s.evaluate(t, below)
		for i := range records {
			width := float64(above[name].Row(i)[j]) - float64(below[name].Row(i)[j])
			d := difference{record: i, element: j, want: (up[i] - down[i]) / width}
			if up[i] != down[i] {
				d.blur = 4 * 0x1p-24 * max(math.Abs(up[i]), math.Abs(down[i])) / width
			}
			if given != nil {
				d.given = given[j*records+i]
			}
			out = append(out, d)
		}
	}
	return out
}

func allRecords() []int {
	out := make([]int, records)
	for i := range out {
		out[i] = i
	}
	return out
}
