// Tests of SDE's methods.

package unlearn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/nn/loss"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

func apply(t *testing.T, m unlearn.Method, r unlearn.Request) (nn.Params, *unlearn.Report) {
	t.Helper()
	p, rep, err := unlearn.Apply(context.Background(), m, r)
	if err != nil {
		t.Fatal(err)
	}
	return p, rep
}

// The zero values against every setting written out: Descent's, the published
// programs' learning rates, and what each method has of its own.
func TestTheZeroValueOfSDEsMethodsIsTheProgramsSetting(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	full := unlearn.Descent{Momentum: new(0.9), WeightDecay: new(5e-4), Batch: 256}
	for _, c := range []struct {
		zero, written, other unlearn.Method
		steps                int
	}{
		{unlearn.RandomLabel{}, unlearn.RandomLabel{Epochs: 10, LR: 0.013, Descent: full}, unlearn.RandomLabel{LR: 0.02}, 20},
		{unlearn.RandomLabel{}, unlearn.RandomLabel{Descent: full}, unlearn.RandomLabel{Descent: unlearn.Descent{Momentum: new(0.0)}}, 20},
		{unlearn.RandomLabel{SinglePass: true}, unlearn.RandomLabel{SinglePass: true, Descent: full}, unlearn.RandomLabel{}, 10},
		{unlearn.SalUn{}, unlearn.SalUn{Epochs: 10, LR: 0.013, Ratio: 0.5, Descent: full}, unlearn.SalUn{Ratio: 0.25}, 20},
		{unlearn.SalUn{}, unlearn.SalUn{Descent: full}, unlearn.SalUn{Restore: true}, 20},
		{unlearn.L1Sparsity{}, unlearn.L1Sparsity{Epochs: 10, LR: 0.01, Gamma: new(5e-4), Descent: full}, unlearn.L1Sparsity{Gamma: new(0.0)}, 10},
		{unlearn.Unroll{}, unlearn.Unroll{LR: 0.01, Batch: 32, Times: 1}, unlearn.Unroll{Times: 2}, 0},
		{unlearn.FineTuning{SGD: &unlearn.Descent{}}, unlearn.FineTuning{Epochs: 10, LR: 0.01, SGD: &full}, unlearn.FineTuning{SGD: &unlearn.Descent{WeightDecay: new(0.0)}}, 10},
		{unlearn.GradientAscent{SGD: &unlearn.Descent{}}, unlearn.GradientAscent{Epochs: 5, LR: 1e-4, SGD: &full}, unlearn.GradientAscent{LR: 1e-4}, 5},
	} {
		zero, rep := apply(t, c.zero, r)
		written, _ := apply(t, c.written, r)
		other, _ := apply(t, c.other, r)
		if zero.Hash() != written.Hash() {
			t.Errorf("%+v: is not %+v", c.zero, c.written)
		}
		if zero.Hash() == other.Hash() {
			t.Errorf("%+v has no influence", c.other)
		}
		if rep.Steps != c.steps {
			t.Errorf("%+v: %d steps, want %d", c.zero, rep.Steps, c.steps)
		}
	}
}

// The settings are part of store keys: one flat object, zeros left out.
func TestTheSettingsOfSDEsMethodsAreFlatJSON(t *testing.T) {
	for want, m := range map[string]unlearn.Method{
		`{"lr":0.1,"ratio":0.3,"restore":true,"momentum":0,"batch":64}`: unlearn.SalUn{LR: 0.1, Ratio: 0.3, Restore: true, Descent: unlearn.Descent{Momentum: new(0.0), Batch: 64}},
		`{"sgd":{}}`:   unlearn.FineTuning{SGD: &unlearn.Descent{}},
		`{"times":50}`: unlearn.Unroll{Times: 50},
	} {
		if b, err := json.Marshal(m); err != nil || string(b) != want {
			t.Errorf("%s (%v), want %s", b, err, want)
		}
	}
}

// With batches: every epoch a sweep over the forget set under the labels of the
// documented rule, then one over the retain set; a request's batch goes before
// the method's. Sparsity is the retain set with a falling L1 term.
func TestSDEsMethodsAreTheFitsOfTheirPlans(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	classes := classesOf(r)
	term := func(d unlearn.Data, y []int) train.Term {
		return train.Term{X: d.X, IDs: d.IDs, Targets: []train.Target{toward(loss.CrossEntropy{}, labels(unlearn.Data{Y: y}, classes), 1)}}
	}
	random := func(epoch int) []int { return randomLabels(r, epoch) }
	apart := func(epoch int) ([]train.Objective, error) {
		return []train.Objective{{term(r.Forget, random(epoch))}, {term(r.Retain, r.Retain.Y)}}, nil
	}
	together := func(epoch int) ([]train.Objective, error) {
		all := unlearn.Data{X: array.New[float32](48, r.Forget.X.Cols)}
		copy(all.X.Data[copy(all.X.Data, r.Forget.X.Data):], r.Retain.X.Data)
		all.IDs = append(append(all.IDs, r.Forget.IDs...), r.Retain.IDs...)
		return []train.Objective{{term(all, append(random(epoch), r.Retain.Y...))}}, nil
	}
	retain := func(int) ([]train.Objective, error) { return []train.Objective{{term(r.Retain, r.Retain.Y)}}, nil }
	for _, c := range []struct {
		method unlearn.Method
		plan   train.Plan
		lr     float64
	}{
		{unlearn.RandomLabel{}, train.Plan{Passes: apart}, 0.013},
		{unlearn.RandomLabel{SinglePass: true}, train.Plan{Passes: together}, 0.013},
		{unlearn.L1Sparsity{}, train.Plan{Passes: retain, Transforms: train.Chain{train.L1{Weight: 5e-4, Falling: true}}}, 0.01},
		{unlearn.FineTuning{SGD: &unlearn.Descent{Batch: 3}}, train.Plan{Passes: retain}, 0.01},
	} {
		for _, batch := range []int{16, 5} {
			r := r
			r.Batch = batch
			got, rep := apply(t, c.method, r)
			config := train.Config{Epochs: 10, Batch: batch, Optimizer: nn.SGD{LR: c.lr, Momentum: 0.9, WeightDecay: 5e-4}, Seed: r.Seed}
			want, history, err := train.FitPlan(context.Background(), r.Runner, r.Original, c.plan, config, train.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash() != want.Hash() || fmt.Sprint(rep.History) != fmt.Sprint(history) {
				t.Errorf("%s in batches of %d: is not the fit of its plan", c.method.Info().Name, batch)
			}
		}
	}
}

func TestSparsityShrinksTheWeights(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	sparse, _ := apply(t, unlearn.L1Sparsity{Gamma: new(5e-2)}, r)
	plain, _ := apply(t, unlearn.L1Sparsity{Gamma: new(0.0)}, r)
	tuned, _ := apply(t, unlearn.FineTuning{SGD: &unlearn.Descent{}}, r)
	if plain.Hash() != tuned.Hash() {
		t.Error("without gamma it is not fine-tuning")
	}
	if a, b := magnitudes(sparse), magnitudes(plain); !(a < 0.95*b) {
		t.Errorf("magnitudes add up to %v with the term and to %v without", a, b)
	}
}

// Unrolling is linear in what scales it, and m defaults to the epochs since the
// checkpoint.
func TestUnrollScalesWithItsFactors(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	_, one := apply(t, unlearn.Unroll{}, r)
	for _, c := range []struct {
		m      unlearn.Unroll
		batch  int
		epoch  int
		factor float64
	}{
		{unlearn.Unroll{Times: 40}, 0, 39, 40},
		{unlearn.Unroll{LR: 0.1}, 0, 39, 10},
		{unlearn.Unroll{Batch: 8}, 0, 39, 4},
		{unlearn.Unroll{Batch: 8}, 64, 39, 0.5},
		{unlearn.Unroll{}, 0, 0, 40},
	} {
		r := r
		r.Batch = c.batch
		r.Earlier = &unlearn.Checkpoint{Params: r.Earlier.Params, Epoch: c.epoch}
		if _, rep := apply(t, c.m, r); math.Abs(rep.Displacement/one.Displacement-c.factor) > 1e-3*c.factor {
			t.Errorf("%+v, batch %d, epoch %d: %v times as far, want %v", c.m, c.batch, c.epoch, rep.Displacement/one.Displacement, c.factor)
		}
	}
}

func TestSettingsOutOfRangeAreRefusedByName(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, c := range []struct {
		m     unlearn.Method
		words []string
	}{
		{unlearn.SalUn{Ratio: 1.5}, []string{"unlearn salun", "1.5"}},
		{unlearn.SalUn{Ratio: math.NaN()}, []string{"unlearn salun", "NaN"}},
		{unlearn.RandomLabel{Epochs: -2}, []string{"unlearn random-label", "-2 epochs"}},
		{unlearn.RandomLabel{LR: -0.1}, []string{"learning rate -0.1"}},
		{unlearn.RandomLabel{Descent: unlearn.Descent{Momentum: new(1.5)}}, []string{"momentum 1.5"}},
		{unlearn.RandomLabel{Descent: unlearn.Descent{Batch: -3}}, []string{"batches of -3"}},
		{unlearn.L1Sparsity{Gamma: new(-2.0)}, []string{"unlearn l1-sparsity", "L1 term is -2"}},
		{unlearn.L1Sparsity{Descent: unlearn.Descent{WeightDecay: new(-2.0)}}, []string{"weight decay -2"}},
		{unlearn.Unroll{LR: -1}, []string{"unlearn unroll", "learning rate -1"}},
		{unlearn.Unroll{Times: -1}, []string{"-1 times"}},
		{unlearn.Unroll{Batch: -1}, []string{"batch -1"}},
	} {
		_, _, err := unlearn.Apply(context.Background(), c.m, r)
		if err == nil {
			t.Errorf("%+v: no error", c.m)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %q does not say %q", err, w)
			}
		}
	}
}
