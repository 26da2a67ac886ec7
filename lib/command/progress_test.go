// Everything that may take long says so: commands, recipes, methods, attacks, lenses, estimators.

package command

import (
	"context"
	"errors"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/attack"
	"github.com/lethe-ml/lethe/lib/attack/generative"
	"github.com/lethe-ml/lethe/lib/attack/learned"
	"github.com/lethe-ml/lethe/lib/attack/population"
	"github.com/lethe-ml/lethe/lib/attack/shadow"
	"github.com/lethe-ml/lethe/lib/audit"
	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/engine/enginetest"
	"github.com/lethe-ml/lethe/lib/information"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/progress/progresstest"
	"github.com/lethe-ml/lethe/lib/unlearn"
	"github.com/lethe-ml/lethe/lib/unlearn/unlearntest"

	"github.com/spf13/cobra"
)

func TestEveryCommandAnnouncesItself(t *testing.T) {
	shown := progresstest.Record(t)
	seen := 0
	var check func(c *cobra.Command, path []string)
	check = func(c *cobra.Command, path []string) {
		if len(path) > 0 && c.Runnable() {
			seen++
			lethe(t, append(path[:len(path):len(path)], "--no-such-flag")...)
			if !shown.HasNamed(c.CommandPath()) {
				t.Errorf("%s does not show that it works", c.CommandPath())
			}
		}
		for _, sub := range c.Commands() {
			check(sub, append(path[:len(path):len(path)], sub.Name()))
		}
	}
	check(Root(), nil)
	if seen < 20 {
		t.Errorf("only %d commands", seen)
	}
}

// stoppedContext is over before anything runs: what announces itself does so before it works.
func stoppedContext(t *testing.T) context.Context {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	return ctx
}

func TestEveryRecipeAnnouncesItself(t *testing.T) {
	shown := progresstest.Record(t)
	e, s := enginetest.WithStore(t)
	ctx := stoppedContext(t)
	for _, p := range Papers() {
		env := &paper.Env{Engine: e, Store: s}
		for _, r := range p.Recipes {
			_, err := r.Run(ctx, env, p.Scales[0].Name)
			if !shown.HasNamed(r.ID) {
				t.Errorf("%s: %v, and nothing is shown", r.ID, err)
			}
			if err == nil && r.Jobs != nil && !r.Timed {
				t.Logf("%s makes its output in a context that is over", r.ID)
			}
		}
	}
}

func TestEveryMethodAnnouncesItself(t *testing.T) {
	shown := progresstest.Record(t)
	r := unlearntest.NewToy(t).Request
	for _, m := range unlearn.All() {
		_, _, err := unlearn.Apply(stoppedContext(t), m, r)
		if !shown.HasNamed(m.Info().Name) {
			t.Errorf("%s: %v, and nothing is shown", m.Info().Name, err)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Logf("%s: %v", m.Info().Name, err)
		}
	}
}

// numbers returns a matrix of random numbers.
func numbers(seed engine.Root, rows, cols int) array.Matrix[float64] {
	return array.Normal(seed.Stream(engine.StreamPairs), rows, cols, 1)
}

func openEngine(t *testing.T) *engine.Engine {
	t.Helper()
	e, err := enginetest.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func TestEveryAttackAnnouncesItself(t *testing.T) {
	shown := progresstest.Record(t)
	for _, a := range population.All() {
		_, _ = attack.Run(a, population.Evidence{}, nil) // it announces itself before it looks
		checkAnnounced(t, shown, a.Name())
	}
	for _, a := range shadow.All() {
		_, _ = attack.Run(a, shadow.Evidence{}, nil)
		checkAnnounced(t, shown, a.Name())
	}
	for _, a := range generative.All() {
		_, _ = attack.Run(a, generative.Evidence{}, nil)
		checkAnnounced(t, shown, a.Name())
	}
	e := openEngine(t)
	known := learned.Records{Members: numbers(1, 12, 2), Nonmembers: numbers(2, 12, 2)}
	for _, a := range learned.Attackers() {
		p := learned.CrossFitted(a)
		p.Folds = 2
		if _, err := p.Run(t.Context(), e, learned.Target{Model: known}, 1); err != nil {
			t.Errorf("%s: %v", a.Name(), err)
		}
		checkAnnounced(t, shown, "attack "+p.Name)
	}
}

func TestEveryEstimatorAnnouncesItself(t *testing.T) {
	shown := progresstest.Record(t)
	e, p := openEngine(t), information.Pairs{X: numbers(1, 200, 2), Y: numbers(2, 200, 2)}
	for _, m := range information.All() {
		if _, err := m.Estimate(stoppedContext(t), e, p, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", m.Name(), err)
		}
		checkAnnounced(t, shown, m.Name())
	}
}

func TestEveryLensOnArraysAnnouncesItself(t *testing.T) {
	shown := progresstest.Record(t)
	r := lethe(t, "audit", auditFolder(t, "unlearned"))
	if r.Code != 0 {
		t.Fatal(r.Stderr)
	}
	for _, l := range audit.ArrayLenses() {
		checkAnnounced(t, shown, "auditing · "+l.Name())
	}
}

// checkAnnounced checks that work of that name was shown.
func checkAnnounced(t *testing.T, shown *progresstest.Recorder, name string) {
	t.Helper()
	if !shown.HasNamed(name) {
		t.Errorf("%s is not shown", name)
	}
}
