// Tests of unlearn.go.

package unlearn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/federated"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/model/tabular"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"
)

// The zero value of a method is the paper's setting: the same bytes as with
// every value of RULER section 4.2 and appendix A.11 written out.
func TestTheZeroValueIsThePapersSetting(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	for _, c := range []struct {
		zero, paper, other unlearn.Method
		epochs             int
	}{
		{unlearn.GradientAscent{}, unlearn.GradientAscent{Epochs: 5, LR: 5e-4}, unlearn.GradientAscent{LR: 1e-3}, 5},
		{unlearn.NegGrad{}, unlearn.NegGrad{Epochs: 10, LR: 5e-4, Alpha: new(0.6)}, unlearn.NegGrad{Alpha: new(0.5)}, 10},
		{unlearn.FineTuning{}, unlearn.FineTuning{Epochs: 10, LR: 5e-4}, unlearn.FineTuning{LR: 1e-3}, 10},
		{unlearn.SCRUB{}, unlearn.SCRUB{Epochs: 10, LR: 5e-4, Alpha: new(0.6), Temperature: 2}, unlearn.SCRUB{Temperature: 1}, 10},
		{unlearn.BadTeacher{}, unlearn.BadTeacher{Epochs: 10, LR: 5e-4, Alpha: new(0.6), Temperature: 2, TeacherSeed: 101}, unlearn.BadTeacher{TeacherSeed: 102}, 10},
		{unlearn.RandomWeights{}, unlearn.RandomWeights{Seed: 100}, unlearn.RandomWeights{Seed: 101}, 0},
		{unlearn.Retrain{}, unlearn.Retrain{SeedShift: 0}, unlearn.Retrain{SeedShift: 2}, r.Fit.Epochs},
	} {
		run := func(m unlearn.Method) (string, *unlearn.Report) {
			p, rep, err := unlearn.Apply(context.Background(), m, r)
			if err != nil {
				t.Fatal(err)
			}
			return p.Hash(), rep
		}
		zero, rep := run(c.zero)
		paper, _ := run(c.paper)
		other, _ := run(c.other)
		if zero != paper {
			t.Errorf("%s: the zero value is not the paper's setting", c.zero.Info().Name)
		}
		if zero == other {
			t.Errorf("%s: %+v has no influence", c.zero.Info().Name, c.other)
		}
		if rep.Epochs != c.epochs || rep.Steps != c.epochs {
			t.Errorf("%s: %d epochs of %d full-batch steps, the paper has %d", c.zero.Info().Name, rep.Epochs, rep.Steps, c.epochs)
		}
	}
}

func TestNamesAndSightAreWhatTheControlsRelyOn(t *testing.T) {
	all := unlearn.Sees{Original: true, Forget: true, Retain: true}
	want := map[string]unlearn.Sees{
		"gradient-ascent":    {Original: true, Forget: true},
		"neggrad":            all,
		"fine-tuning":        {Original: true, Retain: true},
		"scrub":              all,
		"bad-teacher":        all,
		"scrub-kurmanji":     {Original: true, Forget: true, Retain: true, HeldOut: true},
		"random-label-tuned": {Original: true, Forget: true, Retain: true, HeldOut: true},
		"salun-tuned":        {Original: true, Forget: true, Retain: true, HeldOut: true},

		"bad-teacher-chundawat":     all,
		"random-label-step-matched": all,
		"salun-step-matched":        all,
		"unroll-thudi":              {Original: true, Forget: true, Earlier: true},
		"random-label":              all,
		"salun":                     all,
		"l1-sparsity":               {Original: true, Retain: true},
		"unroll":                    {Original: true, Forget: true, Earlier: true},
		"retrain":                   {Retain: true},
		"retrain-other-seed":        {Retain: true},
		"do-nothing":                {Original: true},
		"random-weights":            {},
	}
	for _, m := range unlearn.All() {
		if sees, ok := want[m.Info().Name]; ok && sees != m.Info().Sees {
			t.Errorf("%s sees %+v, expected %+v", m.Info().Name, m.Info().Sees, sees)
		}
		delete(want, m.Info().Name)
		if about := m.Info(); about.Does == "" || about.From == "" || strings.HasSuffix(about.Does, ".") {
			t.Errorf("%s says of itself %+v", m.Info().Name, about)
		}
		// Two controls are another method with a setting: a seed, and Plain.
		control := m.Info().Name == "retrain-other-seed" || m.Info().Name == "federated-retraining"
		if b, err := json.Marshal(m); err != nil || (!control && string(b) != "{}") {
			t.Errorf("%s: the zero value prints as %s (%v)", m.Info().Name, b, err)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the list: %v", want)
	}
}

func TestMatchedFineTuningTakesAsManyStepsAsItsMethod(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	_, rep, err := unlearn.Apply(context.Background(), unlearn.FineTuning{Epochs: 5}, r)
	if err != nil {
		t.Fatal(err)
	}
	if rep.Epochs != 5 {
		t.Errorf("%d epochs", rep.Epochs)
	}
}

// With mini-batches of 16 the 40 retain records make three steps per epoch, and
// the 8 forget records of the ascent one.
func TestMiniBatchesSweepTheRetainSet(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	r.Batch = 16
	for m, steps := range map[unlearn.Method]int{
		unlearn.NegGrad{}: 30, unlearn.SCRUB{}: 30, unlearn.BadTeacher{}: 30, unlearn.FineTuning{}: 30, unlearn.GradientAscent{}: 5,
	} {
		_, rep, err := unlearn.Apply(context.Background(), m, r)
		if err != nil {
			t.Fatal(err)
		}
		if rep.Steps != steps {
			t.Errorf("%s: %d steps, want %d", m.Info().Name, rep.Steps, steps)
		}
	}
}

// outcome is a method that returns its fields.
type outcome struct {
	out *unlearn.Outcome
	err error
}

func (outcome) Info() unlearn.Info { return unlearn.Info{Name: "stub"} }
func (o outcome) Unlearn(context.Context, unlearn.Request) (*unlearn.Outcome, error) {
	return o.out, o.err
}

func TestApplyRefusesDamagedResults(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	nan := r.Original.Clone()
	nan[4].Data[2] = float32(math.NaN())
	for _, c := range []struct {
		out  *unlearn.Outcome
		want []string
	}{
		{nil, []string{"unlearn stub", "no outcome"}},
		{&unlearn.Outcome{Params: nan}, []string{"unlearn stub", "damaged", "head.weight", "element 2 is NaN"}},
		{&unlearn.Outcome{Params: r.Original[:2]}, []string{"unlearn stub", "2 tensors against 6"}},
	} {
		_, _, err := unlearn.Apply(context.Background(), outcome{out: c.out}, r)
		if err == nil {
			t.Errorf("no error, want one with %q", c.want)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %q does not say %q", err, w)
			}
		}
	}
}

// careless is a method that does what its function does.
type careless func(r unlearn.Request)

func (careless) Info() unlearn.Info {
	return unlearn.Info{Name: "careless", Sees: unlearn.Sees{Original: true, Forget: true, Earlier: true}}
}

func (f careless) Unlearn(_ context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
	f(r)
	return &unlearn.Outcome{Params: r.Original}, nil
}

// A method from elsewhere gets weights of its own, and its panic is an error.
func TestAMethodCannotHarmItsCaller(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	r.Holders = []federated.User{{Rows: slices.Clone(r.Forget.IDs)}}
	content := func() string {
		return fmt.Sprint(r.Original.Hash(), r.Earlier.Params.Hash(), r.Forget.Y, r.Forget.IDs, r.Holders)
	}
	before := content()
	p, rep, err := unlearn.Apply(t.Context(), careless(func(r unlearn.Request) {
		r.Original[0].Data[0]++
		r.Earlier.Params[0].Data[0]++
		r.Forget.Y[0]++
		r.Forget.IDs[0]++
		r.Holders[0].Rows[0]++
	}), r)
	if err != nil || p.Hash() == r.Original.Hash() || rep.Displacement == 0 {
		t.Errorf("a method that changes its weights: displacement %+v (%v)", rep, err)
	}
	if content() != before {
		t.Error("the method changed the request")
	}
	broken := errors.New("broken")
	for _, c := range []struct {
		panics func(unlearn.Request)
		want   string
	}{
		{func(unlearn.Request) { panic("oops") }, "oops"},
		{func(unlearn.Request) { panic(broken) }, "broken"},
		{func(r unlearn.Request) { _ = r.Original[len(r.Original)] }, "index out of range"},
	} {
		p, rep, err := unlearn.Apply(t.Context(), careless(c.panics), r)
		if p != nil || rep != nil || err == nil || !strings.HasPrefix(err.Error(), "unlearn careless: the method panicked at unlearn_test.go:") ||
			!strings.Contains(err.Error(), c.want) || errors.Is(err, broken) != (c.want == "broken") {
			t.Errorf("a panic with %s: %v", c.want, err)
		}
	}
}

func TestDisplacementIsRelativeToTheOriginal(t *testing.T) {
	r := unlearntest.NewToy(t).Request
	half := r.Original.Clone()
	for _, p := range half {
		for i := range p.Data {
			p.Data[i] *= 1.5
		}
	}
	_, rep, err := unlearn.Apply(context.Background(), outcome{out: &unlearn.Outcome{Params: half}}, r)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(rep.Displacement-0.5) > 1e-7 {
		t.Errorf("displacement %v, want 0.5", rep.Displacement)
	}
}

// A model is trained on eight records and asked to forget the last one.
func ExampleApply() {
	e, err := enginetest.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close()
	arch := tabular.MLP{Features: 2, Outputs: 2, Hidden: 8}
	runner, err := model.NewRunner(e, arch)
	if err != nil {
		log.Fatal(err)
	}
	x := array.Matrix[float32]{Rows: 8, Cols: 2, Data: []float32{0, 1, 0, 2, 1, 2, 1, 3, 2, 0, 3, 0, 3, 1, 2, 2}}
	y := []int{0, 0, 0, 0, 1, 1, 1, 0}
	fit := train.Config{Epochs: 100, Optimizer: nn.Adam{LR: 0.01}, Seed: 1}
	start := model.InitialWeights(arch, fit.Seed.Stream(engine.StreamInit))
	original, _, err := train.Fit(context.Background(), runner, start, train.Objective{{X: x, Targets: []train.Target{train.CrossEntropy(y, 2, 1)}}}, fit, train.Hooks{})
	if err != nil {
		log.Fatal(err)
	}
	request := unlearn.Request{
		Runner:   runner,
		Original: original,
		Forget:   unlearn.Data{X: x.Gather([]int{7}), Y: y[7:], IDs: []int{7}},
		Retain:   unlearn.Data{X: x.Gather([]int{0, 1, 2, 3, 4, 5, 6}), Y: y[:7], IDs: []int{0, 1, 2, 3, 4, 5, 6}},
		Fit:      fit,
		Seed:     100,
	}
	for _, m := range []unlearn.Method{unlearn.NoOp{}, unlearn.GradientAscent{}} {
		_, report, err := unlearn.Apply(context.Background(), m, request)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d epochs, moved the weights: %t\n", report.Method, report.Epochs, report.Displacement > 0)
	}
	// Output:
	// do-nothing: 0 epochs, moved the weights: false
	// gradient-ascent: 5 epochs, moved the weights: true
}
