package nn

import (
	"strings"
	"testing"
)

// A gradient of another length than its weight is refused by the tensor's name, before anything changes.
func TestAGradientOfAnotherLengthIsRefused(t *testing.T) {
	for _, o := range optimizers {
		for _, c := range []struct {
			grads [][]float64
			words string
		}{
			{[][]float64{{1, 1}, {1}}, "the gradient of second (tensor 1) has 1 numbers, the weight 3"},
			{[][]float64{{1, 1}, {1, 1, 1, 1}}, "the gradient of second (tensor 1) has 4 numbers, the weight 3"},
			{[][]float64{{}, nil}, "the gradient of first (tensor 0) has 0 numbers, the weight 2"},
			{[][]float64{{1, 1}}, "1 gradients for 2 tensors"},
		} {
			p := Params{{Name: "first", Shape: []int{2}, Data: []float32{1, 1}}, {Name: "second", Shape: []int{3}, Data: []float32{1, 1, 1}}}
			before := p.Hash()
			s := NewOptimizerState(o, p)
			if err := o.WithDefaults().Step(p, c.grads, s, nil); err == nil || !strings.Contains(err.Error(), c.words) {
				t.Errorf("%s: %v, want %q", o.Name(), err, c.words)
			}
			if p.Hash() != before || s.T != 0 {
				t.Errorf("%s: a step that is refused changes something", o.Name())
			}
		}
	}
}
