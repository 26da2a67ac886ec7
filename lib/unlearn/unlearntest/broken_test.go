// The suite must fail methods that are broken.

package unlearntest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/internal/conform"
	"github.com/lethe-ml/lethe/lib/model"
	"github.com/lethe-ml/lethe/lib/nn"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// broken is a method defined by a function.
type broken struct {
	name    string
	sees    unlearn.Sees
	unlearn func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error)
}

func (b broken) Info() unlearn.Info {
	return unlearn.Info{Name: b.name, Does: "does something", From: "a test", Sees: b.sees}
}

// wordless is a method that does not say what it does.
type wordless struct{ broken }

func (w wordless) Info() unlearn.Info { return unlearn.Info{Name: w.name, Sees: w.sees} }

// general is a method that says that it works on models other than classifiers.
type general struct{ broken }

func (g general) Info() unlearn.Info {
	i := g.broken.Info()
	i.General = true
	return i
}

// descend descends on the retain set and ascends on the forget set, with the labels of a classifier.
func descend(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
	o := train.Objective{{Name: "down", X: r.Retain.X, IDs: r.Retain.IDs, Targets: []train.Target{train.CrossEntropy(r.Retain.Y, toyClasses, 1)}}}
	if r.Forget.X.Rows > 0 {
		up := train.CrossEntropy(r.Forget.Y, toyClasses, -0.3)
		o = append(o, train.Term{Name: "up", X: r.Forget.X, IDs: r.Forget.IDs, Targets: []train.Target{up}})
	}
	p, h, err := train.Fit(ctx, r.Runner, r.Original, o, train.Config{Epochs: 3, Batch: r.Batch, Seed: r.Seed}, r.Hooks)
	if err != nil {
		return nil, err
	}
	return &unlearn.Outcome{Params: p, History: h}, nil
}

// exchanged returns the request with the forget set in place of the retain set and the other way around.
func exchanged(r unlearn.Request) unlearn.Request {
	r.Forget, r.Retain = r.Retain, r.Forget
	return r
}

// drifting is a method whose defaults are others when they are filled in again.
type drifting struct {
	broken
	epochs int
}

func (b *drifting) SetDefaults() { b.epochs++ }

func (b drifting) Unlearn(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
	return defaults.Fill(unlearn.FineTuning{Epochs: b.epochs}).Unlearn(ctx, r)
}
func (b broken) Unlearn(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
	return b.unlearn(ctx, r)
}

// tune is correct fine-tuning, on which the broken methods build.
func tune(ctx context.Context, r unlearn.Request, hooks train.Hooks) (*unlearn.Outcome, error) {
	r.Hooks = hooks
	return defaults.Fill(unlearn.FineTuning{Epochs: 3}).Unlearn(ctx, r)
}

var draws atomic.Uint64

var brokenMethods = []struct {
	breaks string // the test of the suite that must fail
	unlearn.Method
	options []Option
}{
	{"has_a_name", broken{"No Name", retainOnly, working}, nil},
	{"has_a_name", wordless{broken{"no-words", retainOnly, working}}, nil},
	{"works_on_an_autoencoder", general{broken{"general-lie", everything, descend}}, nil},
	{"uses_what_it_declares", broken{"ignores-forget", everything, working}, nil},
	{"uses_what_it_declares", broken{"ignores-original", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		return defaults.Fill(unlearn.Retrain{}).Unlearn(ctx, r)
	}}, nil},
	{"forgets_a_planted_memory", broken{"exchanged", everything, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		return descend(ctx, exchanged(r))
	}}, nil},
	{"resolves_to_itself", drifting{broken: broken{"drifts", retainOnly, working}, epochs: 1}, nil},
	{"leaves_its_request_alone", broken{"writes-weights", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		out, err := working(ctx, r)
		r.Original[0].Data[0]++
		return out, err
	}}, nil},
	{"leaves_its_request_alone", broken{"writes-labels", everything, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		out, err := working(ctx, r)
		r.Forget.Y[0] = (r.Forget.Y[0] + 1) % toyClasses
		return out, err
	}}, nil},
	{"leaves_its_request_alone", broken{"returns-input", unlearn.Sees{Original: true}, func(_ context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		return &unlearn.Outcome{Params: r.Original}, nil
	}}, []Option{Deterministic()}},
	{"same_seed", broken{"global-draw", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		r.Seed += engine.Root(draws.Add(1))
		return working(ctx, r)
	}}, nil},
	{"other_seed", broken{"fixed-seed", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		r.Seed = 1
		return working(ctx, r)
	}}, nil},
	{"other_seed", broken{"not-so-deterministic", retainOnly, working}, []Option{Deterministic()}},
	{"sees_only", broken{"peeks-at-forget", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		out, err := working(ctx, r)
		if err == nil && len(r.Forget.Y) > 0 {
			out.Params[0].Data[0] += r.Forget.X.Data[0]
		}
		return out, err
	}}, nil},
	{"sees_only", broken{"starts-from-the-original", unlearn.Sees{Retain: true}, func(_ context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		p := model.InitialWeights(r.Runner.Arch, r.Seed.Stream(engine.StreamInit))
		if len(r.Original) > 0 {
			p = r.Original.Clone()
		}
		return &unlearn.Outcome{Params: p}, nil
	}}, nil},
	{"sees_only", broken{"peeks-at-the-checkpoint", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		out, err := working(ctx, r)
		if err == nil && r.Earlier != nil {
			out.Params[0].Data[0] += r.Earlier.Params[0].Data[0]
		}
		return out, err
	}}, nil},
	{"reports_progress", broken{"silent", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		h := r.Hooks
		h.Progress = nil
		return tune(ctx, r, h)
	}}, nil},
	{"stops_and_resumes", broken{"unstoppable", retainOnly, func(_ context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		return working(context.Background(), r)
	}}, nil},
	{"stops_and_resumes", broken{"saves-nothing", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		h := r.Hooks
		h.Save = nil
		return tune(ctx, r, h)
	}}, nil},
	{"stops_and_resumes", broken{"starts-again", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		h := r.Hooks
		if h.Resume != nil {
			h.Resume.Params = r.Original.Clone()
		}
		return tune(ctx, r, h)
	}}, nil},
	{"works_on_mini-batches", broken{"full-batches", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		r.Batch = 0
		return working(ctx, r)
	}}, nil},
	{"works_on_mini-batches", broken{"shuffles-full-batches", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		r.Batch *= 1000
		return working(ctx, r)
	}}, nil},
	{"works_on_mini-batches", broken{"no-batches-of-its-own", retainOnly, working}, []Option{OwnBatches()}},
	{"trains_on_augmented_records", broken{"unchanged-records", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		r.Augment = nil
		return working(ctx, r)
	}}, nil},
	{"trains_on_augmented_records", broken{"augments-pairs", retainOnly, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		if of := r.Augment; of != nil {
			r.Augment = train.AugmentFunc(func(dst, src []float32, epoch, id int) error { return of.Augment(dst, src[1:], epoch, id) })
		}
		return working(ctx, r)
	}}, nil},
	{"lowers_its_objective", broken{"ascends", everything, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		return defaults.Fill(unlearn.GradientAscent{}).Unlearn(ctx, r)
	}}, []Option{LowersObjective(func(t testing.TB, y *Toy, p nn.Params) float64 { return y.CrossEntropy(t, p, y.Request.Forget) })}},
}

var (
	retainOnly = unlearn.Sees{Original: true, Retain: true}
	everything = unlearn.Sees{Original: true, Forget: true, Retain: true}
)

func working(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
	return tune(ctx, r, r.Hooks)
}

// TestBrokenMethods is run by the next test: every one of its subtests is meant
// to fail.
func TestBrokenMethods(t *testing.T) {
	conform.RunOnlyByFails(t)
	for _, b := range brokenMethods {
		t.Run(b.Info().Name, func(t *testing.T) { Run(t, b.Method, b.options...) })
	}
}

func TestTheSuiteFailsBrokenMethods(t *testing.T) {
	var want []string
	for _, b := range brokenMethods {
		want = append(want, b.Info().Name+"/"+b.breaks)
	}
	conform.CheckSubtestsFail(t, "TestBrokenMethods", want...)
}

func TestTheSuitePassesAWorkingMethod(t *testing.T) {
	Run(t, broken{"working", retainOnly, working}, LowersObjective(func(t testing.TB, y *Toy, p nn.Params) float64 {
		return y.CrossEntropy(t, p, y.Request.Retain)
	}))
}
