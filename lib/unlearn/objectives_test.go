// RULER's methods against their formulas.

package unlearn_test

import (
	"context"
	"fmt"
	"math"
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

// labels and outputs write the two kinds of target anew.
func labels(d unlearn.Data, classes int) array.Matrix[float32] {
	m := array.New[float32](len(d.Y), classes)
	for i, y := range d.Y {
		m.Row(i)[y] = 1
	}
	return m
}

func outputs(t *testing.T, r unlearn.Request, teacher nn.Params, d unlearn.Data) array.Matrix[float32] {
	t.Helper()
	out, err := r.Runner.Predict(teacher, d.X)
	if err != nil {
		t.Fatal(err)
	}
	m := array.New[float32](d.X.Rows, out.Logits().Cols)
	for i := range m.Rows {
		var total float64
		for _, z := range out.Logits().Row(i) {
			total += math.Exp(float64(z) / 2)
		}
		for c, z := range out.Logits().Row(i) {
			m.Row(i)[c] = float32(math.Exp(float64(z)/2) / total)
		}
	}
	return m
}

// Every method is Adam on an objective; the objectives of RULER section 4.2 and
// appendix A.11 are built here from their formulas, and what a method does must
// be their fit: signs, weights, temperatures, which records, and which of them
// enter a mini-batch whole. That a fit is right is shown in package train.
func TestAMethodIsTheFitOfItsPapersObjective(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	classes := classesOf(r)
	random := model.InitialWeights(r.Runner.Arch, engine.Root(101).Stream(engine.StreamInit))
	retain := func(targets ...train.Target) train.Term {
		return train.Term{Name: "retain", X: r.Retain.X, IDs: r.Retain.IDs, Targets: targets}
	}
	forget := func(whole bool, targets ...train.Target) train.Term {
		return train.Term{Name: "forget", X: r.Forget.X, IDs: r.Forget.IDs, Targets: targets, Whole: whole}
	}
	ce := func(d unlearn.Data, weight float64) train.Target {
		return toward(loss.CrossEntropy{}, labels(d, classes), weight)
	}
	kl := func(teacher nn.Params, d unlearn.Data, weight float64) train.Target {
		return toward(loss.Distillation{Temperature: 2}, outputs(t, r, teacher, d), weight)
	}
	for _, c := range []struct {
		method    unlearn.Method
		epochs    int
		objective train.Objective
	}{
		{unlearn.GradientAscent{}, 5, train.Objective{forget(false, ce(r.Forget, -1))}},
		{unlearn.FineTuning{}, 10, train.Objective{retain(ce(r.Retain, 1))}},
		{unlearn.NegGrad{}, 10, train.Objective{retain(ce(r.Retain, 0.6)), forget(true, ce(r.Forget, -0.4))}},
		{unlearn.SCRUB{}, 10, train.Objective{retain(kl(r.Original, r.Retain, 0.6)), forget(true, kl(r.Original, r.Forget, -0.4))}},
		{unlearn.BadTeacher{}, 10, train.Objective{
			retain(ce(r.Retain, 0.6), kl(random, r.Retain, 0.4)), forget(true, kl(random, r.Forget, 1))}},
	} {
		for _, batch := range []int{0, 16, 5} {
			t.Run(fmt.Sprintf("%s in batches of %d", c.method.Info().Name, batch), func(t *testing.T) {
				r := r
				r.Batch = batch
				got, rep, err := unlearn.Apply(context.Background(), c.method, r)
				if err != nil {
					t.Fatal(err)
				}
				config := train.Config{Epochs: c.epochs, Batch: batch, Optimizer: nn.Adam{LR: 5e-4}, Seed: r.Seed}
				want, history, err := train.Fit(context.Background(), r.Runner, r.Original, c.objective, config, train.Hooks{})
				if err != nil {
					t.Fatal(err)
				}
				if rep.Epochs != len(history) || rep.Steps != history[len(history)-1].Steps {
					t.Fatalf("%d epochs and %d steps, the objective's fit has %d and %d", rep.Epochs, rep.Steps, len(history), history[len(history)-1].Steps)
				}
				for i, h := range rep.History {
					if math.Abs(h.Loss-history[i].Loss) > 1e-6 {
						t.Errorf("epoch %d: loss %v, want %v", i+1, h.Loss, history[i].Loss)
					}
				}
				if d, err := got.Displacement(want); err != nil || d > 1e-6 {
					t.Errorf("the weights are %g away from the objective's fit (%v)", d, err)
				}
			})
		}
	}
}

// spy keeps the request that reaches it.
type spy struct {
	sees unlearn.Sees
	got  *unlearn.Request
}

func (s spy) Info() unlearn.Info { return unlearn.Info{Name: "spy", Sees: s.sees} }
func (s spy) Unlearn(_ context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
	*s.got = r
	return &unlearn.Outcome{Params: model.InitialWeights(r.Runner.Arch, engine.Root(1).Stream(engine.StreamInit))}, nil
}

func TestApplyTakesOutWhatAMethodDoesNotDeclare(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, original := range []bool{false, true} {
		for _, forget := range []bool{false, true} {
			for _, retain := range []bool{false, true} {
				sees := unlearn.Sees{Original: original, Forget: forget, Retain: retain, Earlier: original != forget}
				var got unlearn.Request
				if _, _, err := unlearn.Apply(context.Background(), spy{sees, &got}, r); err != nil {
					t.Fatal(err)
				}
				there := unlearn.Sees{
					Original: len(got.Original) > 0,
					Earlier:  got.Earlier != nil,
					Forget:   got.Forget.X.Data != nil || got.Forget.Y != nil || got.Forget.IDs != nil,
					Retain:   got.Retain.X.Data != nil || got.Retain.Y != nil || got.Retain.IDs != nil,
				}
				if there != sees {
					t.Errorf("declared %+v, got %+v", sees, there)
				}
			}
		}
	}
	if len(r.Original) == 0 || len(r.Forget.Y) == 0 || len(r.Retain.Y) == 0 {
		t.Error("Apply emptied its caller's request")
	}
}
