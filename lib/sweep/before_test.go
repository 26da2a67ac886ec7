package sweep

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/lethe-ml/lethe/lib/store"
)

// What a store had before the sweep is not computed again, by a worker of any shard, and is collected with the rest. Its jobs cost
// nothing, so that shards share the work that is left.
func TestRunsFromBeforeTheSweepAreNotComputedAgain(t *testing.T) {
	g := small()
	want := undisturbed(t, g)
	before, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g.store = before
	known := map[string]string{}
	for _, j := range g.jobs() {
		if strings.HasPrefix(j.ID, "base/") || j.ID == "twin/1-2" {
			if known[j.ID], err = j.Work(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	g.store = nil
	dir, p := planGrid(t, g, 3)
	p, err = New(g.jobs(), Options{Recipes: p.Recipes, Scale: p.Scale, Shards: p.Shards, Engine: p.Engine, Runs: known})
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range p.Jobs {
		if (j.Cost == 0) != (known[j.ID] != "") {
			t.Errorf("%s costs %d", j.ID, j.Cost)
		}
	}
	other := t.TempDir()
	if m, err := AddRuns(t.Context(), other, before, map[string]string{"base/0-0": known["base/0-0"], "lost": strings.Repeat("0", 64)}); err != nil || m.Added != 1 {
		t.Errorf("%d of 1 run was copied: %v", m.Added, err)
	}
	if m, err := AddRuns(t.Context(), dir, before, known); err != nil || m.Added != len(known) || len(m.Refused) > 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	var mu sync.Mutex
	g.during = func(_ context.Context, _ *store.Work, id string) error {
		mu.Lock()
		defer mu.Unlock()
		if known[id] != "" {
			t.Errorf("%s is computed again", id)
		}
		return nil
	}
	if err := workAll(t, dir, g); err != nil {
		t.Fatal(err)
	}
	s, _ := collect(t, dir)
	sameRuns(t, runs(t, s.Dir()), want)
}
