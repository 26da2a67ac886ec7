// What authors from outside hand over, and how it is refused.

package train

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
)

// anyTransform is a transform of an author's.
type anyTransform func(s *GradientStep)

func (f anyTransform) Transform(s *GradientStep) error {
	f(s)
	return nil
}

func TestATransformThatTearsTheGradientIsNamed(t *testing.T) {
	o, r := mixed(40, 6, 5), openRunner(t, still, 32)
	for words, c := range map[string]Chain{
		"transform 1 (train.anyTransform) returns another gradient than it got: the gradient of hidden1.weight (tensor 0) has 1 numbers, the weight 45": {
			ClipNorm{Max: 1}, anyTransform(func(s *GradientStep) { s.Grads[0] = s.Grads[0][:1] })},
		"(tensor 1) has 10 numbers, the weight 9":      {anyTransform(func(s *GradientStep) { s.Grads[1] = append(s.Grads[1], 1) })},
		"the gradient has 1 tensors":                   {anyTransform(func(s *GradientStep) { s.Grads = s.Grads[:1] })},
		"transform 0 (train.anyTransform) panicked at": {anyTransform(func(*GradientStep) { panic("out of ideas") })},
		"transform 1 of 2 is nil":                      {ClipNorm{Max: 1}, nil},
	} {
		_, _, err := FitPlan(context.Background(), r, initial(still), Plan{Passes: singlePass(o), Transforms: c}, Config{Epochs: 1}, Hooks{})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %q", err, words)
		}
	}
	s := GradientStep{Params: initial(still), Grads: [][]float64{{1}}}
	if err := (Chain{}).Apply(&s); err == nil || !strings.Contains(err.Error(), "before the transforms: the gradient has 1 tensors") {
		t.Errorf("a gradient that is too short before: %v", err)
	}
}

// failing is an optimiser that panics in its step.
type failing struct{ nn.SGD }

func (f failing) WithDefaults() nn.Optimizer { return f }

func (failing) Step(nn.Params, [][]float64, *nn.OptimizerState, []float64) error {
	panic("no step")
}

func (f failing) StepFloat32(nn.Params, [][]float32, *nn.OptimizerState, []float64) error {
	panic("no step")
}

func TestAnOptimiserThatPanicsIsNamed(t *testing.T) {
	c := Config{Epochs: 1, Optimizer: failing{nn.SGD{LR: 1}}}
	_, _, err := Fit(context.Background(), openRunner(t, still, 32), initial(still), mixed(40, 6, 5), c, Hooks{})
	wantWords(t, err, "the optimiser sgd panicked at authors_test.go", "no step")
}

func TestNoRunnerIsAnError(t *testing.T) {
	ctx, o, p := context.Background(), mixed(40, 6, 5), initial(still)
	one := Objective{o[0]}
	for name, f := range map[string]func() error{
		"Fit":              func() error { _, _, err := Fit(ctx, nil, p, o, Config{}, Hooks{}); return err },
		"FitPlan":          func() error { _, _, err := FitPlan(ctx, nil, p, fixedPlan(o), Config{}, Hooks{}); return err },
		"FitMany":          func() error { return FitMany(ctx, nil, []Job{{Start: p, Plan: fixedPlan(o)}})[0].Err },
		"Gradient":         func() error { _, err := Gradient(ctx, nil, p, o, 0, Mode{}); return err },
		"SquaredGradients": func() error { _, err := SquaredGradients(ctx, nil, p, one, Mode{}); return err },
		"GradientNorms":    func() error { _, err := GradientNorms(ctx, nil, p, one, Mode{}); return err },
		"Evaluate":         func() error { _, err := Evaluate(ctx, nil, p, o); return err },
		"NewCurvature":     func() error { _, err := NewCurvature(nil, one); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "train: the runner is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnEarlyStopOfNoSenseIsRefused(t *testing.T) {
	for _, e := range []EarlyStop{{Patience: -1}, {Patience: 1, MinDelta: math.NaN()}, {Patience: 1, MinDelta: -1}} {
		_, _, err := Fit(context.Background(), openRunner(t, still, 32), initial(still), mixed(40, 6, 5), Config{Epochs: 1, EarlyStop: e}, Hooks{})
		wantWords(t, err, fmt.Sprintf("an early stop with patience %d and min delta %v", e.Patience, e.MinDelta))
	}
}

func TestOutputsThatDoNotFitTheirLabelsAreRefusedByName(t *testing.T) {
	logits := array.Matrix[float32]{Rows: 2, Cols: 3, Data: make([]float32, 6)}
	torn := array.Matrix[float32]{Rows: 2, Cols: 3, Data: make([]float32, 5)}
	for words, f := range map[string]func(){
		"train.Losses: y has 1 labels, logits 2 records":            func() { Losses(logits, []int{0}) },
		"train.Losses: y[1] is 3, logits has the classes 0 to 2":    func() { Losses(logits, []int{0, 3}) },
		"train.Accuracy: y has 3 labels, logits 2 records":          func() { Accuracy(logits, []int{0, 1, 2}) },
		"train.Accuracy: y[0] is -1, logits has the classes 0 to 2": func() { Accuracy(logits, []int{-1, 1}) },
		"train.Softmax: the temperature t is 0":                     func() { Softmax(logits, 0) },
		"train.Softmax: the temperature t is -1":                    func() { Softmax(logits, -1) },
		"train.Softmax: logits is 2 x 3 and has 5 numbers":          func() { Softmax(torn, 1) },
	} {
		said := func() (said string) {
			defer func() { said = fmt.Sprint(recover()) }()
			f()
			return ""
		}()
		if !strings.Contains(said, words) {
			t.Errorf("%q, want %q", said, words)
		}
	}
	if p := Distillation(logits, 0, 1).Inputs["probabilities"]; p.Data[0] != Softmax(logits, 1).Data[0] {
		t.Errorf("a distillation at the default temperature is against %v", p.Data)
	}
}
