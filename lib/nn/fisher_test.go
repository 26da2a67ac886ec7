package nn

import (
	"math"
	"strings"
	"testing"
)

// Three steps by hand, in float64: in the first the averages are g and g^2.
func TestFisherIsItsFormula(t *testing.T) {
	o := Fisher{LR: 0.1, Beta1: 0.5, Beta2: 0.9, Damping: 0.2}
	grads := []float64{2, -1, 0.01}
	p := Params{{Name: "w", Shape: []int{1}, Data: []float32{1}}}
	s := NewOptimizerState(o, p)
	m, f, want := 0.0, 0.0, 1.0
	for k, g := range grads {
		if err := o.Step(p, [][]float64{{g}}, s, nil); err != nil {
			t.Fatal(err)
		}
		m, f = 0.5*m+0.5*g, 0.9*f+0.1*g*g
		want -= 0.1 * (m / (1 - math.Pow(0.5, float64(k+1)))) / (f/(1-math.Pow(0.9, float64(k+1))) + 0.2)
		if got := float64(p[0].Data[0]); math.Abs(got-want) > 1e-6 {
			t.Errorf("after step %d: %v, want %v", k+1, got, want)
		}
	}
	for words, o := range map[string]Fisher{"learning rate NaN": {LR: math.NaN()}, "betas 1": {Beta1: 1}, "damping -1": {Damping: -1}} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
