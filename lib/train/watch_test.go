package train

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
)

// endsAt ends every epoch after its k-th step, and records the steps that it sees.
func endsAt(k int, seen *[]int) Watch {
	in, epoch := 0, -1
	return func(l StepInfo) (bool, error) {
		if l.Epoch != epoch {
			in, epoch = 0, l.Epoch
		}
		in++
		if seen != nil {
			*seen = append(*seen, l.Step)
		}
		return in == k, nil
	}
}

// A watch that ends an epoch after step k gives the bits of a game of k steps per epoch: the
// step at which it ends the epoch runs, and the next epoch has all batches again. One that
// never ends an epoch changes nothing.
func TestAWatchEndsAnEpochBehindTheStep(t *testing.T) {
	r := openRunner(t, small, 16)
	x, y := toy(1, 70, 5, 3)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	c := Config{Epochs: 3, Batch: 16, Seed: 7}
	fit := func(p Plan) (string, []Epoch) {
		w, history, err := FitPlan(t.Context(), r, initial(small), p, c, Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		return w.Hash(), history
	}
	whole, _ := fit(Plan{Passes: singlePass(o)})
	for k := 1; k <= 5; k++ {
		var seen []int
		got, history := fit(Plan{Passes: singlePass(o), Watch: endsAt(k, &seen)})
		want, rounds := fit(Plan{Game: &Game{Players: []Player{{Name: "all", Objective: o}}, Steps: k}})
		if got != want || history[2].Steps != 3*k || math.Abs(history[2].Loss-rounds[2].Loss) > 1e-12 {
			t.Errorf("ended behind step %d: %+v, as many rounds %+v", k, history, rounds)
		}
		for i, step := range seen {
			if step != i {
				t.Errorf("step %d is shown as the %d.", i, step)
			}
		}
		if (got == whole) != (k == 5) {
			t.Errorf("ended behind step %d of 5, it is the whole fit: %t", k, got == whole)
		}
	}
	if got, _ := fit(Plan{Passes: singlePass(o), Watch: func(StepInfo) (bool, error) { return false, nil }}); got != whole {
		t.Error("to be looked at changes a fit")
	}
}

// StepInfo.Mean uses the step's batch, weights and random inputs.
func TestAWatchSeesTheStepsOwnAnswers(t *testing.T) {
	arch := small
	arch.Dropout = new(0.5)
	r := openRunner(t, arch, 16)
	x, y := toy(1, 30, 5, 3)
	target := CrossEntropy(y, 3, 1)
	o := Objective{{Name: "whole", X: x, Targets: []Target{target}, Whole: true}, {Name: "swept", X: x, Targets: []Target{target}}}
	var sums []float64
	watch := func(l StepInfo) (bool, error) {
		if l.Rows(0) != nil || len(l.Rows(1)) != 15 || l.Rows(2) != nil {
			t.Errorf("step %d: rows %v and %v", l.Step, l.Rows(0), l.Rows(1))
		}
		a, err := l.Mean(0, target)
		if err != nil {
			return false, err
		}
		b, err := l.Mean(1, target)
		sums = append(sums, a+b)
		return true, err
	}
	_, history, err := FitPlan(t.Context(), r, initial(arch), Plan{Passes: singlePass(o), Watch: watch}, Config{Epochs: 4, Batch: 15, Seed: 3}, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range history {
		if math.Abs(e.Loss-sums[i]) > 1e-6 || i > 0 && sums[i] == sums[i-1] {
			t.Errorf("epoch %d: the step has the loss %v, seen was %v", e.Epoch, e.Loss, sums[i])
		}
	}
}

// A fit that is stopped between epochs that end early resumes with the same bits.
func TestAWatchedFitIsResumed(t *testing.T) {
	r := openRunner(t, small, 16)
	x, y := toy(1, 70, 5, 3)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	wrong := Target{Loss: loss.ZeroOne{}, Inputs: CrossEntropy(y, 3, 1).Inputs, Weight: 1}
	plan := func() Plan {
		return Plan{Passes: singlePass(o), Watch: func(l StepInfo) (bool, error) {
			share, err := l.Mean(0, wrong)
			return share > 0.5, err
		}}
	}
	var saved []*State
	c := Config{Epochs: 6, Batch: 16, Seed: 7, Optimizer: nn.Adam{LR: 0.03}}
	want, history, err := FitPlan(t.Context(), r, initial(small), plan(), c, Hooks{SaveEvery: 1, Save: func(s *State) error {
		saved = append(saved, s)
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if first, last := history[0].Steps, history[5].Steps; first == 5 || last == 6*first {
		t.Fatalf("no epoch ended early, or all did at the same step: %+v", history)
	}
	for _, s := range saved {
		got, _, err := FitPlan(t.Context(), r, initial(small), plan(), c, Hooks{Resume: throughFile(t, s)})
		if err != nil || got.Hash() != want.Hash() {
			t.Errorf("resumed after epoch %d: other weights (%v)", s.Done, err)
		}
	}
}

// The share of mistakes is that of the labels that are not given.
func TestAWatchCountsErrors(t *testing.T) {
	r := openRunner(t, still, 16)
	x, y := toy(1, 40, 5, 3)
	wrong := Target{Loss: loss.ZeroOne{}, Inputs: CrossEntropy(y, 3, 1).Inputs, Weight: 1}
	watch := func(l StepInfo) (bool, error) {
		share, err := l.Mean(0, wrong)
		if err != nil {
			return false, err
		}
		said, err := r.Predict(l.Params(), x.Gather(l.Rows(0)))
		if err != nil {
			return false, err
		}
		var labels []int
		for _, i := range l.Rows(0) {
			labels = append(labels, y[i])
		}
		if want := 1 - Accuracy(said.Logits(), labels); math.Abs(share-want) > 1e-6 {
			t.Errorf("step %d: a share of %v is wrong, counted %v", l.Step, want, share)
		}
		return false, nil
	}
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	c := Config{Epochs: 4, Batch: 7, Seed: 7, Optimizer: nn.Adam{LR: 0.02}}
	if _, _, err := FitPlan(t.Context(), r, initial(still), Plan{Passes: singlePass(o), Watch: watch}, c, Hooks{}); err != nil {
		t.Fatal(err)
	}
}

func TestWhatCannotBeWatchedIsRefused(t *testing.T) {
	r := openRunner(t, small, 16)
	x, y := toy(1, 20, 5, 3)
	o := Objective{{X: x, Targets: []Target{CrossEntropy(y, 3, 1)}}}
	never := func(StepInfo) (bool, error) { return false, nil }
	bad := Target{Loss: loss.ZeroOne{}, Inputs: map[string]array.Matrix[float32]{}, Weight: 1}
	for words, p := range map[string]Plan{
		"the rule Alternating": {Game: &Game{Players: []Player{{Name: "all", Objective: o}}, Rule: Simultaneous}, Watch: never},
		"has no term 1":        {Passes: singlePass(o), Watch: func(l StepInfo) (bool, error) { _, err := l.Mean(1, bad); return false, err }},
		"has no term -1":       {Passes: singlePass(o), Watch: func(l StepInfo) (bool, error) { _, err := l.Mean(-1, bad); return false, err }},
		"the watched loss":     {Passes: singlePass(o), Watch: func(l StepInfo) (bool, error) { _, err := l.Mean(0, bad); return false, err }},
		"epoch 1: tired of it": {Passes: singlePass(o), Watch: func(StepInfo) (bool, error) { return false, errors.New("tired of it") }},
	} {
		if _, _, err := FitPlan(t.Context(), r, initial(small), p, Config{Epochs: 1, Batch: 5}, Hooks{}); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	}
}

// StopAfter counts the values that are low enough, in any epochs.
func TestStopAfterCountsValues(t *testing.T) {
	r := openRunner(t, small, 0)
	values, enough := []float64{1, 3, 3, 0.5, 3, 1, 0, 0}, 1.0
	for times, want := range map[int]int{0: 1, 1: 1, 2: 4, 3: 6, 4: 7, 5: 8, 6: 8} {
		v := &Validation{StopBelow: &enough, StopAfter: times, KeepLast: true, Score: func(_ context.Context, _ nn.Params, epoch int) (float64, error) {
			return values[epoch-1], nil
		}}
		_, history, err := FitPlan(t.Context(), r, initial(small), Plan{Passes: singlePass(mixed(12, 4, 5)), Validation: v}, Config{Epochs: len(values)}, Hooks{})
		if err != nil || len(history) != want || v.IsBelow(history) != (times < 6) {
			t.Errorf("%d times: ended after %d epochs, met %t (%v)", times, len(history), v.IsBelow(history), err)
		}
	}
	score := func(context.Context, nn.Params, int) (float64, error) { return 0, nil }
	for _, v := range []*Validation{{StopAfter: -1, StopBelow: &enough, Score: score}, {StopAfter: 2, Score: score}} {
		if err := v.check(small); err == nil || !strings.Contains(err.Error(), "below a threshold") {
			t.Errorf("%+v: %v", v, err)
		}
	}
	if slices.Contains([]bool{(*Validation)(nil).IsBelow(nil), (&Validation{}).IsBelow(nil), (&Validation{StopBelow: &enough}).IsBelow(nil)}, true) {
		t.Error("nothing is enough")
	}
}
