// Package notebooktest holds what tests of notebooks share: it lints a folder
// of notebooks and executes them through the kernel.
package notebooktest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/kernel/setup"
)

// EnvRequired is the environment variable that, when it is set, makes a failure
// of a machine on which no notebook can be executed; a release is tested so.
const EnvRequired = "LETHE_NOTEBOOKS_REQUIRED"

// perCell is the longest time of a cell at quick scale.
const perCell = 5 * time.Minute

// TestAll lints every notebook below dir, and executes them one after the other
// at quick scale, with their claims compared with those in the files. Without
// Python, or with -short, it says why it executes none.
func TestAll(t *testing.T, dir string) {
	names, err := notebook.Find(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatalf("no notebooks in %s", dir)
	}
	for _, name := range names {
		t.Run("lint/"+name, func(t *testing.T) {
			for _, p := range notebook.Lint(os.DirFS(dir), name) {
				t.Error(p)
			}
		})
	}
	t.Run("run", func(t *testing.T) {
		run := Kernel(t)
		out := t.TempDir()
		for _, name := range names {
			t.Run(name, func(t *testing.T) { execute(t, run, dir, name, out) })
		}
	})
}

func execute(t *testing.T, run notebook.Run, dir, name, out string) {
	var said strings.Builder
	b := notebook.Batch{Run: run, Base: dir, Out: out, Check: true, Stdout: &said}
	began := time.Now()
	err := b.Execute(t.Context(), []string{filepath.Join(dir, filepath.FromSlash(name))})
	t.Logf("%.1f s\n%s", time.Since(began).Seconds(), said.String())
	if err != nil {
		t.Error(err)
	}
}

// Kernel makes the machine ready, in the user's own folder, so that it is quick
// from the second time on, and returns how to execute a notebook at quick
// scale. Where that is impossible it skips the test and says why.
func Kernel(t *testing.T) notebook.Run {
	t.Helper()
	if testing.Short() {
		t.Skip("executes notebooks; not with -short")
	}
	ready, err := setup.Prepare(t.Context(), setup.Options{Out: logger{t}, NoCompletion: true, NoNotebooks: true})
	if err != nil && os.Getenv(EnvRequired) != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("no notebooks are executed: ", err)
	}
	j := notebook.Jupyter{Python: ready.Python, Env: ready.Env, Kernel: ready.Kernel}
	return notebook.Run{Jupyter: j, Root: ready.Root, Scale: "quick", Timeout: perCell}
}

// logger shows the steps of a set-up, which can take minutes, as they come.
type logger struct{ t *testing.T }

var _ io.Writer = logger{}

// Write logs p.
func (l logger) Write(p []byte) (int, error) {
	if text := strings.TrimSpace(string(p)); text != "" {
		l.t.Log(fmt.Sprint(text))
	}
	return len(p), nil
}
