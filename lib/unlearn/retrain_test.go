// Tests of retrain.go.

package unlearn_test

import (
	"context"
	"math"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

// The retrained model is the reference of all comparisons, so its independence is shown
// from outside: it equals, bit for bit, a model that was trained without a request.
func TestTheOracleIsAModelTrainedOnTheRetainSetAlone(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, shift := range []int{0, 1} {
		fit := r.Fit
		fit.Seed += engine.Root(shift)
		fresh := model.InitialWeights(r.Runner.Arch, fit.Seed.Stream(engine.StreamInit))
		o := train.Objective{{X: r.Retain.X, IDs: r.Retain.IDs, Targets: []train.Target{train.CrossEntropy(r.Retain.Y, classesOf(r), 1)}}}
		want, _, err := train.Fit(context.Background(), r.Runner, fresh, o, fit, train.Hooks{})
		if err != nil {
			t.Fatal(err)
		}
		oracle, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{SeedShift: shift}, r)
		if err != nil {
			t.Fatal(err)
		}
		if oracle.Hash() != want.Hash() {
			t.Errorf("shift %d: the oracle is not the model trained from scratch on the retain set", shift)
		}
	}
}

func TestTheOracleStartsFromTheOriginalsInitialWeights(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	// One epoch at a rate so small that no float32 weight of the start can move
	// by more than a few units in the last place.
	r.Fit.Epochs, r.Fit.Optimizer, r.Earlier = 1, nn.Adam{LR: 1e-12}, nil
	oracle, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, r)
	if err != nil {
		t.Fatal(err)
	}
	start := model.InitialWeights(r.Runner.Arch, r.Fit.Seed.Stream(engine.StreamInit))
	if d, err := oracle.Displacement(start); err != nil || d > 1e-7 {
		t.Errorf("the oracle began %g away from the seed's initial weights (%v)", d, err)
	}
	if d, err := oracle.Displacement(r.Original); err != nil || d < 0.01 {
		t.Errorf("the oracle began %g away from the trained original (%v)", d, err)
	}
}

func TestTheOracleIsUnchangedByGarbageInWhatItMayNotSee(t *testing.T) {
	toy := unlearntest.NewToy(t)
	want, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, toy.Request)
	if err != nil {
		t.Fatal(err)
	}
	r := toy.Request
	r.Original = r.Original.Clone()
	r.Forget = unlearn.Data{X: r.Forget.X.Gather([]int{0, 1, 2}), Y: []int{0, 0, 0}, IDs: []int{-5, -6, -7}}
	r.Refusals = unlearn.Data{}
	for i := range r.Forget.X.Data {
		r.Forget.X.Data[i] = float32(1000 * (i + 1))
	}
	for _, p := range r.Original {
		for i := range p.Data {
			p.Data[i] = float32(math.Sin(float64(i))) * 1e6
		}
	}
	got, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Hash() != want.Hash() {
		t.Error("weights of the original or forget records reached the oracle")
	}
}

// Conversely, every retained record matters.
func TestTheOracleDependsOnEveryRetainRecord(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	r.Fit.Epochs, r.Earlier = 2, nil
	oracle := func() string {
		p, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, r)
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash()
	}
	want := oracle()
	for i := range r.Retain.Y {
		y := r.Retain.Y[i]
		r.Retain.Y[i] = (y + 1) % classesOf(r)
		if oracle() == want {
			t.Errorf("record %d has no influence", i)
		}
		r.Retain.Y[i] = y
	}
}

func TestTheOraclesSeedIsTheOriginalsAndNotTheRequests(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	want, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Seed += 17
	got, _, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Hash() != want.Hash() {
		t.Error("the unlearning seed reached the oracle")
	}
	other, _, err := unlearn.Apply(context.Background(), unlearn.SecondOracle, r)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := other.Displacement(want); err != nil || d < 0.1 {
		t.Errorf("the oracle of another seed is only %g away (%v)", d, err)
	}
}

// Mini-batches in paired order: the retrained model sees its records in the order in which
// the original saw them.
func TestThePairedOracleIsStillTheModelTrainedAlone(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	r.Fit.Batch, r.Fit.Order, r.Fit.Epochs, r.Earlier = 8, train.Paired, 5, nil
	p := make(map[string]bool)
	for _, order := range []train.Order{train.Paired, train.Shuffled} {
		r.Fit.Order = order
		oracle, rep, err := unlearn.Apply(context.Background(), unlearn.Retrain{}, r)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Steps != 5*5 {
			t.Errorf("%d steps, want 5 epochs of 5 batches", rep.Steps)
		}
		p[oracle.Hash()] = true
	}
	if len(p) != 2 {
		t.Error("the order of the batches has no influence")
	}
}
