package nn

import (
	"math"
	"strings"
	"testing"
)

// torch 2.15.0: torch.optim.SGD(lr=0.1, momentum=0.9, weight_decay=0.01) on
// three weights and three gradients.
func TestSGDIsPyTorchs(t *testing.T) {
	p := Params{{Name: "w", Shape: []int{3}, Data: []float32{1, -2, 0.5}}}
	s := NewOptimizerState(SGD{}, p)
	o := SGD{LR: 0.1, Momentum: 0.9, WeightDecay: 0.01}
	want := [][]float64{
		{0.968999981880188, -1.9880000352859497, 0.2994999885559082},
		{0.9201309680938721, -1.9752119779586792, 0.2187504768371582},
		{0.9252287149429321, -2.00172758102417, 0.12085716426372528},
	}
	for k, g := range [][]float64{{0.3, -0.1, 2}, {0.2, 0, -1}, {-0.5, 0.4, 0.25}} {
		if err := o.Step(p, [][]float64{g}, s, nil); err != nil {
			t.Fatal(err)
		}
		for i, w := range want[k] {
			if math.Abs(float64(p[0].Data[i])-w) > 1.5e-7 {
				t.Errorf("step %d: weight %d is %v, PyTorch has %v", k+1, i, p[0].Data[i], w)
			}
		}
	}
	if s.T != 3 {
		t.Errorf("%d steps counted", s.T)
	}
}

func TestOptimisersLeaveStateAlone(t *testing.T) {
	p := append(Params{{Name: "w", Shape: []int{1}, Data: []float32{1}}}, BatchNormInit("bn", 1)...)
	grads := [][]float64{{1}, {1}, {1}, nil, nil}
	for name, step := range map[string]func(p Params) error{
		"adam": func(p Params) error { return Adam{}.Step(p, grads, NewOptimizerState(Adam{}, p), nil) },
		"sgd": func(p Params) error {
			return SGD{LR: 0.1, WeightDecay: 0.5}.Step(p, grads, NewOptimizerState(SGD{}, p), nil)
		},
	} {
		q := p.Clone()
		q[3].Data[0] = 7 // a running mean that decay would shrink
		if err := step(q); err != nil {
			t.Fatal(err)
		}
		if q[0].Data[0] == 1 || q[1].Data[0] == 1 || q[2].Data[0] == 0 {
			t.Errorf("%s: a weight did not move: %v", name, q)
		}
		if q[3].Data[0] != 7 || q[4].Data[0] != 1 {
			t.Errorf("%s: state moved: %v", name, q)
		}
	}
}

func TestAnOptimiserRefusesTheOthersState(t *testing.T) {
	p, grads := twoParams(), [][]float64{make([]float64, 6), make([]float64, 2)}
	if err := (SGD{LR: 1}).Step(p, grads, NewOptimizerState(Adam{}, p), nil); err == nil || !strings.Contains(err.Error(), "of adam") {
		t.Errorf("sgd: %v", err)
	}
	if err := (Adam{}).Step(p, grads, NewOptimizerState(SGD{}, p), nil); err == nil || !strings.Contains(err.Error(), "of sgd") {
		t.Errorf("adam: %v", err)
	}
}

func TestSGDRefusesSettingsThatMakeNoSense(t *testing.T) {
	for words, o := range map[string]SGD{
		"learning rate 0":   {},
		"learning rate NaN": {LR: math.NaN()},
		"momentum 1":        {LR: 1, Momentum: 1},
		"weight decay -1":   {LR: 1, WeightDecay: -1},
	} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	p := twoParams()
	before := p.Hash()
	err := SGD{LR: 1}.Step(p, [][]float64{{0, 0, 0, 0, 0, 0}, {0, math.Inf(1)}}, NewOptimizerState(SGD{}, p), nil)
	if err == nil || !strings.Contains(err.Error(), "layer.bias") || p.Hash() != before {
		t.Errorf("an infinite gradient: %v", err)
	}
}
