// The planted memory, and what the suite says of methods that do not forget it.

package unlearntest

import (
	"context"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/defaults"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// What is planted is in the original and not in a model that was retrained without it.
func TestTheOriginalMemorisesWhatIsPlanted(t *testing.T) {
	for name, toy := range map[string]*Toy{
		"classifier": NewToy(t), "autoencoder": NewGenerativeToy(t), "bottleneck": NewBottleneckToy(t), "language": NewLanguageToy(t),
	} {
		y := toy.planted(t)
		p, _, err := unlearn.Apply(t.Context(), unlearn.Retrain{}, y.Request)
		if err != nil {
			t.Fatal(err)
		}
		original, retrained := y.Loss(t, y.Request.Original, y.Request.Forget), y.Loss(t, p, y.Request.Forget)
		if !(retrained > 2*original) {
			t.Errorf("%s: the loss of the planted records is %v, %v after retraining", name, original, retrained)
		}
	}
}

// asIf runs a method of the library on a request that a mistake has changed.
func asIf(m unlearn.Method, mistake func(unlearn.Request) unlearn.Request) broken {
	return broken{m.Info().Name, everything, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		return defaults.Fill(m).Unlearn(ctx, mistake(r))
	}}
}

// trainsOnForget leaves no retain set but the forget set.
func trainsOnForget(r unlearn.Request) unlearn.Request {
	r.Retain = r.Forget
	return r
}

func TestTheSuiteNamesWhatLearnsTheForgetSet(t *testing.T) {
	const learns, gives = "the method trains on the forget set", "the method exchanges the two sets"
	onForget := broken{"sign", everything, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		r.Retain, r.Forget = r.Forget, unlearn.Data{}
		return descend(ctx, r)
	}}
	for _, c := range []struct {
		m    broken
		want string
	}{
		{broken{"right", everything, descend}, ""},
		{onForget, learns},
		{broken{"exchanged", everything, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
			return descend(ctx, exchanged(r))
		}}, learns},
		{asIf(unlearn.FineTuning{}, trainsOnForget), learns},
		{asIf(unlearn.NegGrad{}, exchanged), learns},
		{asIf(unlearn.GradientAscent{}, func(r unlearn.Request) unlearn.Request { r.Forget = r.Retain; return r }), gives},
		{asIf(unlearn.SCRUB{}, exchanged), gives},
		{asIf(unlearn.RandomLabel{}, exchanged), gives},
		{asIf(unlearn.SSD{}, exchanged), gives},
	} {
		s := &suite{method: c.m, toy: NewToy(t)}
		checkFaults(t, c.m.name, s.faultsWithAMemory(t), c.want)
	}
}

// The same mistakes on the suite's other models.
func TestTheSuiteNamesThemOnEveryModel(t *testing.T) {
	m := asIf(unlearn.RetainTuning{}, trainsOnForget)
	for _, toy := range []*Toy{NewGenerativeToy(t), NewBottleneckToy(t), NewLanguageToy(t)} {
		s := &suite{method: general{m}, toy: toy}
		checkFaults(t, toy.Request.Runner.Arch.Name(), s.faultsWithAMemory(t), "the method trains on the forget set")
	}
}

func checkFaults(t *testing.T, name string, faults []string, want string) {
	t.Helper()
	if all := strings.Join(faults, "; "); want == "" && all != "" || !strings.Contains(all, want) {
		t.Errorf("%s: the suite says %q; want %q", name, all, want)
	}
}

func TestTheSuiteNamesPartsThatAreNotUsed(t *testing.T) {
	all := everything
	all.Earlier, all.HeldOut = true, true
	onlyNumber := broken{"only-number", unlearn.Sees{Original: true, Forget: true}, func(_ context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
		p := r.Original.Clone()
		p[0].Data[0] += float32(r.Forget.X.Rows)
		return &unlearn.Outcome{Params: p}, nil
	}}
	for _, c := range []struct {
		m    broken
		want string
	}{
		{broken{"right", everything, descend}, ""},
		{broken{"ignores", all, working}, "forget set checkpoint held-out set"},
		{broken{"ignores-retain", everything, func(ctx context.Context, r unlearn.Request) (*unlearn.Outcome, error) {
			return defaults.Fill(unlearn.GradientAscent{}).Unlearn(ctx, r)
		}}, "retain set"},
		{onlyNumber, ""},
	} {
		s := &suite{method: c.m, toy: NewToy(t)}
		s.want, s.report = s.apply(t, s.toy.request())
		if got := strings.Join(s.unused(t), " "); got != c.want {
			t.Errorf("%s: unused are %q; want %q", c.m.name, got, c.want)
		}
	}
}
