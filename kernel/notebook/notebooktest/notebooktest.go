// Package notebooktest tests folders of notebooks: it lints them, executes them in the
// kernel and compares their claims.
package notebooktest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/engine"
)

// EnvRequired is the environment variable that makes it a failure if no notebook can be
// executed on this machine. Releases are tested with it.
const EnvRequired = "LETHE_NOTEBOOKS_REQUIRED"

// EnvSeeds is the environment variable with the root seeds of Seeds, "1,2,3".
const EnvSeeds = "LETHE_CLAIMS_SEEDS"

// perCell is the time limit of a cell at quick scale.
const perCell = 3 * time.Minute

// All lints every notebook below dir, and executes those whose names begin with one of the
// given words, at quick scale and with a comparison of their claims. Without Python, or
// with -short, it executes none and says why.
func All(t *testing.T, dir string, execute ...string) {
	names := find(t, dir)
	for _, name := range names {
		t.Run("lint/"+name, func(t *testing.T) {
			for _, p := range notebook.Lint(os.DirFS(dir), name) {
				t.Error(p)
			}
		})
	}
	t.Run("run", func(t *testing.T) {
		run := Kernel(t)
		for _, name := range names {
			if slices.ContainsFunc(execute, func(word string) bool { return strings.HasPrefix(name, word) }) {
				t.Run(name, func(t *testing.T) { check(t, run, dir, name) })
			}
		}
	})
}

// Seeds executes every notebook below dir with each root seed of EnvSeeds: its claims must
// hold for all of them. It takes long and is run by hand.
func Seeds(t *testing.T, dir string) {
	listed := os.Getenv(EnvSeeds)
	if listed == "" {
		t.Skipf("executes every notebook with other seeds; by hand, with %s=1,2,3", EnvSeeds)
	}
	run := Kernel(t)
	env := run.Jupyter.Env
	for seed := range strings.SplitSeq(listed, ",") {
		run.Jupyter.Env = append(slices.Clone(env), engine.SeedEnv+"="+seed)
		for _, name := range find(t, dir) {
			t.Run(seed+"/"+name, func(t *testing.T) { check(t, run, dir, name) })
		}
	}
}

func find(t *testing.T, dir string) []string {
	t.Helper()
	names, err := notebook.Find(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatalf("no notebooks in %s", dir)
	}
	return names
}

func check(t *testing.T, run notebook.Run, dir, name string) {
	var out strings.Builder
	b := notebook.Batch{Run: run, Base: dir, Out: t.TempDir(), Check: true, Stdout: &out}
	began := time.Now()
	err := b.Execute(t.Context(), []string{filepath.Join(dir, filepath.FromSlash(name))})
	t.Logf("%.1f s\n%s", time.Since(began).Seconds(), out.String())
	if err != nil {
		t.Error(err)
	}
}

// Kernel sets up the machine, in the user's own folder, and returns how to execute a
// notebook at quick scale. If that is impossible it skips the test with the reason.
func Kernel(t *testing.T) notebook.Run {
	t.Helper()
	if testing.Short() {
		t.Skip("executes notebooks; not with -short")
	}
	ready, err := setup.Prepare(t.Context(), setup.Options{Out: t.Output(), NoCompletion: true})
	if err != nil && os.Getenv(EnvRequired) != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("no notebooks are executed: ", err)
	}
	j := notebook.Jupyter{Python: ready.Python, Env: ready.Env, Kernel: ready.Kernel}
	return notebook.Run{Jupyter: j, Root: ready.Root, Scale: "quick", Timeout: perCell}
}
