// Everything that may take long says so: commands, recipes, methods, attacks, lenses, estimators.

package command

import (
	"context"
	"errors"
	"testing"

	"github.com/lethe-ml/lethe/lib/engine/enginetest"
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
		if !shown.HasNamed(m.Name()) {
			t.Errorf("%s: %v, and nothing is shown", m.Name(), err)
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Logf("%s: %v", m.Name(), err)
		}
	}
}
