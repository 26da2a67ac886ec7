// Tests of methods as published, step-matched and tuned.

package unlearn_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

func TestStepMatchedGoesAsManyStepsAsThePublishedSetting(t *testing.T) {
	r := unlearntest.NewToy(t).Request // 8 of 48 records are to be forgotten
	r.Batch = 4
	sgd := &unlearn.Descent{}
	for _, c := range []struct {
		method unlearn.Method
		steps  int
	}{
		{unlearn.FineTuning{SGD: sgd}, 100},
		// 400 of 480 records are 25 batches of 16.
		{unlearn.StepMatched[unlearn.FineTuning]{Of: unlearn.FineTuning{SGD: sgd}, Records: 480, Batch: 16}, 250},
		// 5 + 25 steps an epoch there, 2 + 10 here.
		{unlearn.StepMatched[unlearn.RandomLabel]{Records: 480, Batch: 16}, 300},
		{unlearn.StepMatched[unlearn.GradientAscent]{Of: unlearn.GradientAscent{SGD: sgd}, Records: 480, Batch: 16}, 26},
		// Two steps for 2.5: five epochs of the published setting are 25 steps, 12.5 epochs here.
		{unlearn.StepMatched[unlearn.SCRUBKurmanji]{Of: unlearn.SCRUBKurmanji{KeepLast: true}, Records: 480, Batch: 16}, 8*2 + 250},
	} {
		if _, rep := apply(t, c.method, r); rep.Steps != c.steps {
			t.Errorf("%s: %d steps, want %d", c.method.Info().Name, rep.Steps, c.steps)
		}
	}
	// In the published setting itself nothing changes, to the last bit.
	plain, _ := apply(t, unlearn.RandomLabel{}, r)
	if matched, _ := apply(t, unlearn.StepMatched[unlearn.RandomLabel]{Records: 48, Batch: 4}, r); matched.Hash() != plain.Hash() {
		t.Error("matched to its own setting the method gives another result")
	}
	if _, _, err := unlearn.Apply(t.Context(), unlearn.StepMatched[unlearn.RandomLabel]{Records: -1}, r); err == nil {
		t.Error("a negative number of records was accepted")
	}
}

// accuracyOf returns the accuracy, written anew.
func accuracyOf(t *testing.T, r unlearn.Request, p nn.Params, d unlearn.Data) float64 {
	t.Helper()
	out, err := r.Runner.Predict(p, d.X)
	if err != nil {
		t.Fatal(err)
	}
	n := 0.0
	for i, y := range d.Y {
		z, hit := out.Logits().Row(i), 1.0
		for c, v := range z {
			if v > z[y] || v == z[y] && c < y {
				hit = 0
			}
		}
		n += hit
	}
	return n / float64(len(d.Y))
}

// expected is the accuracy on held-out records whose classes are those of the
// forget set: the mean over the forget set of the accuracy of each record's class.
func expected(t *testing.T, r unlearn.Request, p nn.Params) float64 {
	t.Helper()
	total := 0.0
	for _, y := range r.Forget.Y {
		var of unlearn.Data
		var rows []int
		for i, other := range r.HeldOut.Y {
			if other == y {
				rows, of.Y = append(rows, i), append(of.Y, y)
			}
		}
		of.X = r.HeldOut.X.Gather(rows)
		total += accuracyOf(t, r, p, of)
	}
	return total / float64(len(r.Forget.Y))
}

// The chosen rate is found by trying all of them by hand.
func TestTunedIsTheMethodAtTheBestOfItsRates(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, slack := range []float64{0.01, 0.3, 0} {
		m := unlearn.Tuned[unlearn.RandomLabel]{Rates: []float64{1e-5, 0.01, 0.03, 0.1, 0.3, 1e30}, Slack: new(slack)}
		floor := accuracyOf(t, r, r.Original, r.HeldOut) - slack
		best, nearest := 0.0, math.Inf(1)
		for _, rate := range m.Rates[:5] { // at the last one the model is destroyed
			p, _ := apply(t, unlearn.RandomLabel{LR: rate}, r)
			gap := math.Abs(accuracyOf(t, r, p, r.Forget) - expected(t, r, p))
			if accuracyOf(t, r, p, r.HeldOut) >= floor && gap < nearest {
				best, nearest = rate, gap
			}
		}
		if best == 0 {
			t.Fatal("no rate holds the accuracy: the test tests nothing")
		}
		got, rep := apply(t, m, r)
		want, _ := apply(t, unlearn.RandomLabel{LR: best}, r)
		if got.Hash() != want.Hash() || rep.Note != fmt.Sprintf("rate %g", best) {
			t.Errorf("slack %g: it took %q, the best rate is %g", slack, rep.Note, best)
		}
	}
	// Held-out records of other classes say nothing of the forget set.
	other := r
	for i := range other.Forget.Y {
		other.Forget.Y[i] = 0
	}
	other.HeldOut = unlearn.Data{X: r.HeldOut.X.Gather([]int{0, 1}), Y: []int{1, 2}, IDs: []int{0, 1}}
	if _, _, err := unlearn.Apply(t.Context(), unlearn.Tuned[unlearn.SalUn]{}, other); err == nil || !strings.Contains(err.Error(), "class") {
		t.Errorf("held-out records of other classes: error %v", err)
	}
}

func TestSCRUBAsPublishedAlternatesAndRewinds(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	kl := func(d unlearn.Data, weight float64) train.Target {
		return toward(loss.Distillation{Temperature: 2}, outputs(t, r, r.Original, d), weight)
	}
	up := train.Objective{{Name: "forget", X: r.Forget.X, IDs: r.Forget.IDs, Targets: []train.Target{kl(r.Forget, -1)}}}
	down := train.Objective{{Name: "retain", X: r.Retain.X, IDs: r.Retain.IDs, Targets: []train.Target{
		toward(loss.CrossEntropy{}, labels(r.Retain, classesOf(r)), 1), kl(r.Retain, 0.5)}}}
	plan := train.Plan{Passes: func(epoch int) ([]train.Objective, error) {
		if epoch < 3 {
			return []train.Objective{up, down}, nil
		}
		return []train.Objective{down}, nil
	}}
	rate := 0.02 // the published one moves too little here
	c := train.Config{Epochs: 10, Batch: 32, Optimizer: nn.Adam{LR: rate}, Seed: r.Seed, Schedule: train.Steps(5, 8, 9)}
	var after []nn.Params
	watch := train.Hooks{SaveEvery: 1, Save: func(s *train.State) error { after = append(after, s.Params.Clone()); return nil }}
	want, _, err := train.FitPlan(context.Background(), r.Runner, r.Original, plan, c, watch)
	if err != nil {
		t.Fatal(err)
	}
	last, rep := apply(t, unlearn.SCRUBKurmanji{LR: rate, KeepLast: true}, r)
	if last.Hash() != want.Hash() || rep.Steps != 3+10*2 || rep.Note != "" {
		t.Errorf("without rewinding: the published passes give another result (%d steps, note %q)", rep.Steps, rep.Note)
	}
	best, nearest := 0, math.Inf(1)
	for k, p := range after {
		if d := math.Abs(accuracyOf(t, r, p, r.Forget) - expected(t, r, want)); d <= nearest {
			best, nearest = k, d
		}
	}
	got, rep := apply(t, unlearn.SCRUBKurmanji{LR: rate}, r)
	if got.Hash() != after[best].Hash() || rep.Note != fmt.Sprintf("rewound to epoch %d of 10", best+1) || rep.Epochs != 10 {
		t.Errorf("%q, want epoch %d", rep.Note, best+1)
	}
	if best == 9 {
		t.Error("nothing is rewound here: the test tests nothing")
	}
}

func TestBadTeacherAsPublishedHasTwoTeachers(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	soft := func(p nn.Params, d unlearn.Data) array.Matrix[float32] {
		out, err := r.Runner.Predict(p, d.X)
		if err != nil {
			t.Fatal(err)
		}
		return train.Softmax(out.Logits(), 1)
	}
	bad := model.InitialWeights(r.Runner.Arch, engine.Root(101).Stream(engine.StreamInit))
	both := unlearn.Data{X: array.New[float32](48, r.Forget.X.Cols)}
	p := array.New[float32](48, classesOf(r))
	copy(both.X.Data, r.Forget.X.Data)
	copy(both.X.Data[len(r.Forget.X.Data):], r.Retain.X.Data)
	copy(p.Data, soft(bad, r.Forget).Data)
	copy(p.Data[8*classesOf(r):], soft(r.Original, r.Retain).Data)
	ids := append(append([]int(nil), r.Forget.IDs...), r.Retain.IDs...)
	o := train.Objective{{Name: "both", X: both.X, IDs: ids, Targets: []train.Target{toward(loss.Distillation{Temperature: 1}, p, 1)}}}
	for _, batch := range []int{0, 16} {
		r := r
		r.Batch = batch
		size := batch
		if size == 0 {
			size = 256
		}
		c := train.Config{Epochs: 1, Batch: size, Optimizer: nn.Adam{LR: 1e-4}, Seed: r.Seed}
		want, _, err := train.Fit(context.Background(), r.Runner, r.Original, o, c, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := apply(t, unlearn.BadTeacherChundawat{Share: 1}, r); got.Hash() != want.Hash() {
			t.Errorf("in batches of %d: both teachers on all records give another result", size)
		}
		if got, _ := apply(t, unlearn.BadTeacherChundawat{}, r); got.Hash() == want.Hash() {
			t.Error("the whole retain set was used")
		}
	}
	for _, share := range []float64{-1, 1.5} {
		if _, _, err := unlearn.Apply(t.Context(), unlearn.BadTeacherChundawat{Share: share}, r); err == nil {
			t.Errorf("a share of %v was accepted", share)
		}
	}
}

// Ten epochs along a cosine, the stage from the ninth on: the rate falls to
// (1 + cos 0.8 pi)/2 and (1 + cos 0.9 pi)/2 of 0.1, and momentum of 0.9 carries
// every gradient ten times.
func TestUnrollAsThudiMeansItTakesTheRatesOfTheLastStage(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	r.Earlier.Epoch = 8
	r.Fit = train.Config{Epochs: 10, Batch: 16, Optimizer: nn.SGD{LR: 0.1, Momentum: 0.9}, Schedule: train.Cosine()}
	got, _ := apply(t, unlearn.UnrollThudi{}, r)
	rate := 0.1 / (1 - 0.9) * ((1+math.Cos(0.8*math.Pi))/2 + (1+math.Cos(0.9*math.Pi))/2)
	want, _ := apply(t, unlearn.Unroll{LR: rate, Batch: 16, Times: 1}, r)
	if d, err := got.Displacement(want); err != nil || d > 1e-7 {
		t.Errorf("it is %v from the sum by hand (%v)", d, err)
	}
	if moved, err := got.Displacement(r.Original); err != nil || moved < 1e-4 {
		t.Errorf("it moved by %v (%v)", moved, err)
	}
	// Of an original that was trained otherwise: the published program's rate.
	r.Fit = train.Config{Epochs: 10}
	got, _ = apply(t, unlearn.UnrollThudi{}, r)
	if want, _ = apply(t, unlearn.Unroll{}, r); got.Hash() != want.Hash() {
		t.Error("after Adam on full batches it is not the program's rate")
	}
}
