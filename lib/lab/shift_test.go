// Tests of shifted seeds.

package lab

import (
	"slices"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/train"
	"github.com/lethe-ml/lethe/lib/unlearn"
)

// Another run shares nothing with the first but the data set: not the split, the forget
// set, a weight or a key.
func TestReseedMovesEverySeedAndRunZeroNone(t *testing.T) {
	l := newLab(t)
	open := func(l *Lab) *Case {
		c, err := l.Case(t.Context(), Setting{Fit: train.Config{Epochs: 3}})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, same, other := open(l), open(l.Reseed(0)), open(l.Reseed(1))
	if first.Hash != same.Hash || !slices.Equal(first.Forget, same.Forget) || first.Setting.Seed != same.Setting.Seed {
		t.Error("run 0 is not the lab itself")
	}
	if first.Hash == other.Hash {
		t.Error("the split is the same")
	}
	if slices.Equal(first.Forget, other.Forget) {
		t.Error("the forget set is the same")
	}
	ask := func(c *Case) unlearn.Request {
		r, err := c.Request(t.Context(), unlearn.NegGrad{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, b, d := ask(first), ask(same), ask(other)
	if a.Seed != b.Seed || a.Fit.Seed != b.Fit.Seed || a.Original.Hash() != b.Original.Hash() {
		t.Error("run 0 asks for another unlearning")
	}
	if d.Seed != a.Seed+1 || d.Fit.Seed != a.Fit.Seed+1 || d.Original.Hash() == a.Original.Hash() {
		t.Errorf("unlearning has seed %d and training %d, after %d and %d", d.Seed, d.Fit.Seed, a.Seed, a.Fit.Seed)
	}
	seeds := map[string]int64{"train": 3}
	here, there := l.Key("x", first.Problem, nil, seeds), l.Reseed(1).Key("x", first.Problem, nil, seeds)
	if len(here.Seeds) != 1 || there.Seeds["shift"] != 1 || len(seeds) != 1 {
		t.Errorf("keys hold the seeds %v and %v", here.Seeds, there.Seeds)
	}
}

func TestOpenMovesTheSeedsThatTheEnvironmentAsksFor(t *testing.T) {
	t.Setenv("LETHE_STORE", t.TempDir())
	for word, want := range map[string]int{"": 0, "0": 0, "3": 3 * engine.SeedStep} {
		t.Setenv(engine.SeedEnv, word)
		l, err := Open()
		if err != nil {
			t.Fatal(err)
		}
		defer l.Engine.Close()
		if l.Shift != want {
			t.Errorf("%s=%q moves the lab's seeds by %d, want %d", engine.SeedEnv, word, l.Shift, want)
		}
	}
	t.Setenv(engine.SeedEnv, "many")
	if _, err := Open(); err == nil {
		t.Error("a seed that is no number was accepted")
	}
}

// Precompute stores the models that Variant then finds, and they are the same as without
// it.
func TestPrecomputedModelsAreFoundAndTheSame(t *testing.T) {
	weights := func(ahead bool) string {
		l := newLab(t)
		c, err := l.Case(t.Context(), Setting{Fit: train.Config{Epochs: 3}})
		if err != nil {
			t.Fatal(err)
		}
		if ahead {
			if err := c.Precompute(t.Context(), unlearn.NoOp{}, unlearn.Retrain{}, unlearn.NegGrad{}); err != nil {
				t.Fatal(err)
			}
			l.AfterEpoch = func(train.Epoch) { t.Error("something is computed again") }
		}
		out := ""
		for _, m := range []unlearn.Method{unlearn.NoOp{}, unlearn.Retrain{}, unlearn.NegGrad{}} {
			w, _, err := c.Weights(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			out += w.Hash()
		}
		return out
	}
	if weights(true) != weights(false) {
		t.Error("the weights differ")
	}
}
