// A small grid of jobs for the tests of this package.

package sweep

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/lab"
	"github.com/lethe-ml/lethe/lib/store"
	"github.com/lethe-ml/lethe/lib/store/storetest"
)

// grid is a recipe of words: bases, twins of each that need it, and sums that need
// all of a row. What a job writes hangs on nothing but its name and what it needs.
type grid struct {
	rows, columns int
	store         *store.Store
	// during is called while a job computes, before it writes.
	during func(ctx context.Context, w *store.Work, id string) error
	data   string // hash
}

func (g grid) key(id string) store.Key {
	return store.Key{Recipe: strings.SplitN(id, "/", 2)[0], Config: id, Data: map[string]string{"words": g.data}, Engine: engineHere}
}

// do computes a job and those that it needs and that are missing.
func (g grid) do(ctx context.Context, id string, needs []string) (*store.Run, error) {
	return g.store.Do(ctx, g.key(id), func(ctx context.Context, w *store.Work) error {
		if g.during != nil {
			if err := g.during(ctx, w, id); err != nil {
				return err
			}
		}
		word := id
		for _, n := range needs {
			run, err := g.do(ctx, n, g.needs(n))
			if err != nil {
				return err
			}
			b, err := run.Bytes("word")
			if err != nil {
				return err
			}
			word += "+" + string(b)
		}
		return w.WriteFile("word", []byte(word))
	})
}

func (g grid) needs(id string) (out []string) {
	kind, rest, _ := strings.Cut(id, "/")
	switch kind {
	case "twin":
		return []string{"base/" + rest}
	case "sum":
		for c := range g.columns {
			out = append(out, fmt.Sprintf("base/%s-%d", rest, c), fmt.Sprintf("twin/%s-%d", rest, c))
		}
	}
	return out
}

func (g grid) jobs() (out []lab.Job) {
	add := func(id string, cost int64) {
		j := lab.Job{ID: id, Needs: g.needs(id), Cost: cost, Data: map[string]string{"words": g.data}}
		if !strings.HasPrefix(id, "twin") {
			j.Key, _ = g.key(id).ID()
		}
		j.Work = func(ctx context.Context) (string, error) {
			for _, n := range j.Needs[:min(1, len(j.Needs))] { // as an unlearning asks for its original
				if _, err := g.do(ctx, n, g.needs(n)); err != nil {
					return "", err
				}
			}
			run, err := g.do(ctx, id, g.needs(id))
			if err != nil {
				return "", err
			}
			return run.ID, nil
		}
		out = append(out, j)
	}
	for r := range g.rows {
		for c := range g.columns {
			add(fmt.Sprintf("base/%d-%d", r, c), 100)
			add(fmt.Sprintf("twin/%d-%d", r, c), 10)
		}
		add(fmt.Sprintf("sum/%d", r), 20)
	}
	return out
}

func small() grid { return grid{rows: 2, columns: 3, data: "d1"} }

// planGrid lays a sweep of a grid out in a folder. The program is a small file.
func planGrid(t *testing.T, g grid, shards int) (dir string, p *Plan) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "sweep")
	p, err := New(g.jobs(), Options{Recipes: []string{"test/grid"}, Scale: "quick", Shards: shards, Engine: Engine{"auto", engineHere}})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.Create(dir, program); err != nil {
		t.Fatal(err)
	}
	return dir, p
}

// newWorker returns the worker of one shard of a grid.
func newWorker(t *testing.T, dir string, g grid, shard, of int) *Worker {
	t.Helper()
	return &Worker{
		Dir: dir, Shard: shard, ShardCount: of, Stage: -1, Program: filepath.Join(dir, "lethe"), Engine: engineHere, Out: t.Output(),
		WaitLimit: 20 * time.Millisecond,
		List: func(s *store.Store) ([]lab.Job, error) {
			g.store = s
			return g.jobs(), nil
		},
	}
}

// workAll does every shard of every stage, and returns the errors.
func workAll(t *testing.T, dir string, g grid) error {
	t.Helper()
	p, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	var errs []error
	for stage := range p.Stages {
		for shard := range p.Shards {
			w := newWorker(t, dir, g, shard, p.Shards)
			w.Stage = stage
			errs = append(errs, w.Work(t.Context()))
		}
	}
	return errors.Join(errs...)
}

func readProgress(t *testing.T, dir string) *Progress {
	t.Helper()
	g, err := ReadProgress(dir)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func collect(t *testing.T, dir string) (*store.Store, store.Merged) {
	t.Helper()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m, err := readProgress(t, dir).Collect(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

// runs are the bytes of all finished runs of a store.
func runs(t *testing.T, dir string) map[string]string {
	t.Helper()
	return storetest.Contents(t, filepath.Join(dir, "runs"))
}

// undisturbed are the runs of a grid that one process has made.
func undisturbed(t *testing.T, g grid) map[string]string {
	t.Helper()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	g.store, g.during = s, nil
	for _, j := range g.jobs() {
		if _, err := j.Work(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return runs(t, s.Dir())
}

func sameRuns(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(want) == 0 {
		t.Fatal("there is nothing to compare with")
	}
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s differs or is missing", name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d files, want %d", len(got), len(want))
	}
}

// relisted changes the jobs of a list.
func relisted(t *testing.T, list func(*store.Store) ([]lab.Job, error), change func(*lab.Job)) func(*store.Store) ([]lab.Job, error) {
	t.Helper()
	return func(s *store.Store) ([]lab.Job, error) {
		jobs, err := list(s)
		for i := range jobs {
			change(&jobs[i])
		}
		return jobs, err
	}
}
