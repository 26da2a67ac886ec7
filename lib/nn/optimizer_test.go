package nn

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
)

// optimizers are all there are, each with a setting that can be used.
var optimizers = []Optimizer{Adam{}, AdamW{}, Fisher{}, SGD{LR: 0.1, Momentum: 0.9, WeightDecay: 0.1}}

// optax.adamw of Optax 0.2.8 on JAX 0.10.2, float64, five steps on the gradients
// of TestAdamIsPyTorchs: lr 1e-3 and decay 1e-2; lr 0.1, betas 0.5 and 0.9,
// epsilon 1e-3, decay 0.1.
func TestAdamWIsOptaxs(t *testing.T) {
	grads := [][]float64{{0.1, -2, 1e-9, 0}, {0.3, 1, 1e-9, 0}, {-0.2, 0.5, -3e-9, 5}, {0.05, -0.25, 2e-9, 0}, {0, 4, 1e-9, 0}}
	for name, c := range map[string]struct {
		o    AdamW
		want [][]float64
	}{
		"defaults": {AdamW{}, [][]float64{
			{0.9989900001, -0.498995000005, 0.249906590909, 1.99998},
			{0.998062229122, -0.498723673017, 0.249813182752, 1.9999600002},
			{0.997794344707, -0.498657296918, 0.249850633656, 1.999301187},
			{0.9974979324, -0.498539204949, 0.249827697397, 1.99875791676},
			{0.997245855071, -0.498959410902, 0.249788844502, 1.9982956406}}},
		"everything else": {AdamW{LR: 0.1, Beta1: 0.5, Beta2: 0.9, Eps: 1e-3, WeightDecay: 0.1}, [][]float64{
			{0.89099009901, -0.395049975012, 0.2474999, 1.98},
			{0.780306029899, -0.391099475262, 0.245024801, 1.9602},
			{0.779018327018, -0.409619202526, 0.242574681561, 1.84655994619},
			{0.760520163451, -0.405523010501, 0.240148888079, 1.77598761789},
			{0.746959947592, -0.495762967543, 0.237747325005, 1.72922808968}}},
	} {
		p := Params{{Name: "w", Shape: []int{4}, Data: []float32{1, -0.5, 0.25, 2}}}
		s := NewOptimizerState(c.o, p)
		for k, g := range grads {
			if err := c.o.Step(p, [][]float64{g}, s, nil); err != nil {
				t.Fatal(err)
			}
			for j, v := range p[0].Data {
				if math.Abs(float64(v)-c.want[k][j]) > 8e-7 {
					t.Errorf("%s, step %d, element %d: %v, Optax %v", name, k+1, j, v, c.want[k][j])
				}
			}
		}
	}
}

func TestEveryOptimiserKeepsTheRules(t *testing.T) {
	names := map[string]bool{}
	for _, o := range optimizers {
		t.Run(o.Name(), func(t *testing.T) {
			if names[o.Name()] {
				t.Error("two optimisers have this name")
			}
			names[o.Name()] = true
			text, err := json.Marshal(o)
			if err != nil || !strings.HasPrefix(string(text), `{"`+o.Name()+`":{`) {
				t.Errorf("its JSON is %s: %v", text, err)
			}
			if o.Check() != nil || o.WithDefaults().WithDefaults() != o.WithDefaults() {
				t.Errorf("resolved twice it is another one; %v", o.Check())
			}
			moves(t, o)
		})
	}
}

// moves takes two steps: a frozen tensor and its slots stay, a tensor of half
// rate moves half as far as with rate 1 in the first step, and resolving changes
// nothing.
func moves(t *testing.T, o Optimizer) {
	start := Params{NewParam("a", 2), NewParam("b", 2), NewParam("c", 2)}
	for i := range start {
		copy(start[i].Data, []float32{1, -2})
	}
	grads := [][]float64{{0.5, 3}, {0.5, 3}, {0.5, 3}}
	step := func(o Optimizer) (Params, *OptimizerState) {
		p := start.Clone()
		s := NewOptimizerState(o, p)
		if err := o.Step(p, grads, s, []float64{1, 0.5, 0}); err != nil {
			t.Fatal(err)
		}
		return p, s
	}
	p, s := step(o)
	if q, _ := step(o.WithDefaults()); q.Hash() != p.Hash() {
		t.Error("resolved it takes another step")
	}
	for j := range 2 {
		whole, half := float64(p[0].Data[j]-start[0].Data[j]), float64(p[1].Data[j]-start[1].Data[j])
		if whole == 0 || whole*grads[0][j] > 0 || math.Abs(half-whole/2) > 1e-6 {
			t.Errorf("element %d moves by %v, at half the rate by %v", j, whole, half)
		}
	}
	if !slices.Equal(p[2].Data, start[2].Data) {
		t.Errorf("a frozen tensor moved to %v", p[2].Data)
	}
	for k, slot := range s.Slots {
		if slot[2].Data[0] != 0 || slot[0].Data[0] == 0 {
			t.Errorf("slot %s is %v of a frozen tensor and %v of another", s.Names[k], slot[2].Data, slot[0].Data)
		}
	}
	if single, ok := o.(Float32Optimizer); ok {
		q := start.Clone()
		u := NewOptimizerState(o, q)
		narrow := [][]float32{{0.5, 3}, {0.5, 3}, {0.5, 3}}
		if err := single.StepFloat32(q, narrow, u, []float64{1, 0.5, 0}); err != nil || q.Hash() != p.Hash() || u.Slots[0].Hash() != s.Slots[0].Hash() || u.T != s.T {
			t.Errorf("a gradient in float32 leads elsewhere: %v", err)
		}
		narrow[1][1] = float32(math.Inf(1))
		if err := single.StepFloat32(q, narrow, u, nil); err == nil || !strings.Contains(err.Error(), "element 1") || q.Hash() != p.Hash() || u.T != s.T {
			t.Errorf("a gradient that is infinite: %v", err)
		}
	}
	if err := o.Step(p, grads[:2], s, nil); err == nil || s.T != 1 {
		t.Errorf("two gradients for three tensors: %v", err)
	}
	other := NewOptimizerState(Adam{}, p)
	other.Optimizer = "another"
	if err := o.Step(p, grads, other, nil); err == nil || !strings.Contains(err.Error(), "another") || other.T != 0 {
		t.Errorf("another's state: %v", err)
	}
}

// A tensor without a gradient takes the step of one whose gradient is 0: before it
// ever had one, after it had, and if the optimiser's state comes from a file.
func TestNoGradientIsAGradientOfZero(t *testing.T) {
	for _, o := range append(slices.Clone(optimizers), SGD{LR: 0.1, Momentum: 0.9, WeightDecay: 0.1}) {
		start := Params{NewParam("a", 2), NewParam("b", 2)}
		for i := range start {
			copy(start[i].Data, []float32{1, -2})
		}
		walk := func(none []float64, clone bool) (Params, *OptimizerState) {
			p := start.Clone()
			s := NewOptimizerState(o, p)
			for _, g := range [][]float64{none, {0.5, 3}, none, {0, 0}, none} {
				if err := o.Step(p, [][]float64{{1, 1}, slices.Clone(g)}, s, nil); err != nil {
					t.Fatal(err)
				}
				if clone {
					s = s.Clone()
				}
			}
			return p, s
		}
		p, s := walk([]float64{0, 0}, false)
		for _, clone := range []bool{false, true} {
			q, u := walk(nil, clone)
			if q.Hash() != p.Hash() || u.T != s.T {
				t.Errorf("%s: weights %v, with zeros %v", o.Name(), q[1].Data, p[1].Data)
			}
			for k := range s.Slots {
				if u.Slots[k].Hash() != s.Slots[k].Hash() {
					t.Errorf("%s: slot %s is %v, with zeros %v", o.Name(), s.Names[k], u.Slots[k][1].Data, s.Slots[k][1].Data)
				}
			}
		}
	}
}

func TestSettingsOfAdamThatMakeNoSenseAreRefused(t *testing.T) {
	for words, o := range map[string]Optimizer{
		"learning rate -1": Adam{LR: -1}, "betas 1": Adam{Beta1: 1}, "and 2 ": Adam{Beta2: 2}, "epsilon NaN": AdamW{Eps: math.NaN()},
		"weight decay -1": AdamW{WeightDecay: -1},
	} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestGroupsGiveRates(t *testing.T) {
	p := Params{NewParam("encoder.weight", 1), NewParam("encoder.bias", 1), NewParam("head.weight", 1)}
	got, err := Rates(p, []Group{{"encoder.bias", 3}, {"encoder", 0}})
	if err != nil || !slices.Equal(got, []float64{0, 3, 1}) {
		t.Errorf("rates %v: %v", got, err)
	}
	for words, groups := range map[string][]Group{`prefix "tail" of a group`: {{"tail", 1}}, "is -1": {{"head", -1}}, "is NaN": {{"head", math.NaN()}}} {
		if _, err := Rates(p, groups); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v: %v", groups, err)
		}
	}
}

// A step skips a tensor without gradient and momentum, but not after its momentum was set.
func TestChangedSlotsMoveATensorWithoutGradient(t *testing.T) {
	o, p := SGD{LR: 1, Momentum: 0.5}, Params{NewParam("w", 1)}
	s := NewOptimizerState(o, p)
	step := func() {
		t.Helper()
		if err := o.Step(p, [][]float64{nil}, s, nil); err != nil {
			t.Fatal(err)
		}
	}
	step()
	s.Slots[0][0].Data[0] = 4
	s.SlotsChanged()
	if step(); p[0].Data[0] != -2 {
		t.Errorf("the weight is %v after a momentum of 4, want -2", p[0].Data[0])
	}
}
