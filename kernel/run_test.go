// Tests of run.go.

package kernel

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/kernel/notebook"
	"github.com/lethe-ml/lethe/kernel/setup"
	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/command"
	"github.com/lethe-ml/lethe/lib/paper/sdepaper"
)

func TestRunRefusesWhatContradictsItself(t *testing.T) {
	for args, want := range map[string]string{
		"run --check --in-place":        "--check compares with what --in-place would replace",
		"run --in-place --out x":        "--in-place or --out",
		"run --timeout -1s":             "--timeout -1s: expected 0 or more",
		"run --limit -1s":               "--limit -1s: expected 0 or more",
		"run --jobs 0":                  "--jobs 0: expected at least 1",
		"run --scale big":               "--scale big: there are quick",
		"run notes.txt":                 "notes.txt: expected a notebook",
		"run start/0":                   " notebooks begin so: start/00-forgetting-in-five-minutes, start/01",
		"run stort/00":                  "stort/00: no notebook begins so; expected a file named *.ipynb, a folder (start, ruler",
		"bench cells --rounds 0":        "--rounds 0: expected at least 1",
		"bench cells a.ipynb b.ipynb":   "2 notebooks: expected one or none",
		"bench cells notes.txt":         "notes.txt: expected a notebook",
		"bench nothing":                 `lethe bench takes no arguments, got "nothing"`,
		"run --lint --timeout nonsense": "nonsense",
	} {
		r := lethe(t, strings.Fields(args)...)
		if r.Code != cli.ExitUsage || !strings.Contains(r.Stderr, want) {
			t.Errorf("%s: %+v, want %s", args, r, want)
		}
	}
}

func TestScalesAreThoseOfThePapersThatANotebookImports(t *testing.T) {
	t.Setenv("LETHE_HOME", t.TempDir()) // nothing is set up for a wrong scale
	for name, c := range map[string]struct{ source, scale, want string }{
		"none":  {`import "fmt"`, "giant", "--scale giant: there are quick, standard, paper, hour"},
		"ruler": {`import "github.com/lethe-ml/lethe/lib/paper/rulerpaper"`, "hour", "has quick, standard, paper\n"},
		"both":  {"import (\n\t\"github.com/lethe-ml/lethe/lib/paper/rulerpaper\"\n\trecipes \"github.com/lethe-ml/lethe/lib/paper/sdepaper/toy\"\n)", "hour", "has quick, standard, paper\n"},
	} {
		nb, err := notebook.New(c.source)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name+".ipynb")
		if err := nb.WriteFile(path); err != nil {
			t.Fatal(err)
		}
		r := lethe(t, "run", "--scale", c.scale, path)
		if r.Code != cli.ExitUsage || !strings.Contains(r.Stderr, c.want) {
			t.Errorf("%s: %+v, want %s", name, r, c.want)
		}
	}
	nb, err := notebook.New(`import "github.com/lethe-ml/lethe/lib/paper/sdepaper"`)
	if got := scalesOf(nb, command.Papers()); err != nil || !slices.Equal(got, sdepaper.Paper().ScaleNames()) {
		t.Errorf("a notebook of SDE knows %q, %v", got, err)
	}
}

func TestLintNeedsNoPythonAndItsProblemsAreFailures(t *testing.T) {
	t.Setenv("PATH", "")
	r := lethe(t, strings.Fields("run --lint notebook/testdata/good.ipynb")...)
	if r.Code != cli.ExitOK || r.Out != "no problems in 1 notebooks\n" {
		t.Errorf("%+v", r)
	}
	r = lethe(t, strings.Fields("run --lint notebook/testdata/jupyter.ipynb")...)
	if r.Code != cli.ExitFailure || !strings.Contains(r.Out, "notebook/testdata/jupyter.ipynb: cell 2: failed: v: correct") || !strings.Contains(r.Stderr, "problems in 1 notebooks") {
		t.Errorf("%+v", r)
	}
}

func TestAShortNameIsANotebookOrAFolder(t *testing.T) {
	for name, want := range map[string][]string{
		"start/00": {"dir/start/00-forgetting-in-five-minutes.ipynb"},
		"sde/":     {"dir/sde/01-hsic-by-hand.ipynb", "dir/sde/02-is-it-dependence-or-spread.ipynb"},
		"a.ipynb":  {"a.ipynb"},
	} {
		got, err := expandNames([]string{name}, "dir")
		if err != nil || len(got) < len(want) || !slices.Equal(got[:len(want)], want) || len(want) == 1 && len(got) != 1 {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestAllNotebooksAreThoseOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := allNotebooks(dir); err == nil || !strings.Contains(err.Error(), "there are no notebooks in "+dir) {
		t.Error(err)
	}
	path := filepath.Join(dir, "start", "a.ipynb")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := allNotebooks(dir); err != nil || len(got) != 1 || got[0] != path {
		t.Errorf("%q, %v", got, err)
	}
	t.Chdir(dir)
	if got, err := allNotebooks(dir); err != nil || len(got) != 1 || got[0] != filepath.Join("start", "a.ipynb") {
		t.Errorf("from inside: %q, %v", got, err)
	}
}

func TestOutLiesInTheCloneOrAmongTheUnpackedNotebooks(t *testing.T) {
	if got := outParent(&setup.Ready{Clone: true, Root: "clone", Notebooks: "clone/notebooks"}); got != "clone" {
		t.Error(got)
	}
	if got := outParent(&setup.Ready{Root: "cache", Notebooks: "mine"}); got != "mine" {
		t.Error(got)
	}
}
