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
		"none":  {`import "fmt"`, "giant", "--scale giant: there are quick, hour, large, standard, paper"},
		"ruler": {`import "github.com/lethe-ml/lethe/lib/paper/rulerpaper"`, "atlas", "has quick, hour, large, standard, paper\n"},
		"both":  {"import (\n\t\"github.com/lethe-ml/lethe/lib/paper/rulerpaper\"\n\trecipes \"github.com/lethe-ml/lethe/lib/paper/sdepaper/toy\"\n)", "atlas", "has quick, hour, large, standard, paper\n"},
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
	if got, err := allNotebooks(dir); err != nil || len(got) != 1 || got[0].name != path {
		t.Errorf("%v, %v", got, err)
	}
	t.Chdir(dir)
	if got, err := allNotebooks(dir); err != nil || len(got) != 1 || got[0].name != filepath.Join("start", "a.ipynb") {
		t.Errorf("from inside: %v, %v", got, err)
	}
}

func TestANotebookIsNamedByItsBeginning(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.ipynb")
	first := filepath.Join("here", filepath.FromSlash(startNotebook))
	for args, want := range map[string][]string{
		"":                                    nil,
		"start/00":                            {first},
		startNotebook:                         {first},
		"start/00-forgetting-in-five-minutes": {first},
		own + " start/00":                     {own, first},
		"nowhere.ipynb":                       {"nowhere.ipynb"},
	} {
		all, err := chooseNotebooks(strings.Fields(args))
		if got := pathsOf(all, "here"); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", args, got, err, want)
		}
	}
	if all, err := chooseNotebooks([]string{"start"}); err != nil || len(all) < 3 || all[0].name != startNotebook || !anyNamed(all) {
		t.Errorf("the folder: %v, %v", all, err)
	}
	for arg, want := range map[string]string{
		"start/77": "start/77: expected a notebook, a file named *.ipynb or a name; there are start/00, start/01",
		"star":     "there are start, ruler, sde",
		"notes":    "there are start, ruler, sde",
		"":         "there are start, ruler, sde",
		"start/0":  "there are start/00, start/01",
		"../start": "there are start, ruler, sde",
	} {
		if _, err := chooseNotebooks([]string{arg}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", arg, err, want)
		}
	}
	// A scale is checked in the notebook that the program has, before anything is set up.
	t.Setenv("LETHE_HOME", filepath.Join(t.TempDir(), "home"))
	t.Setenv("PATH", "")
	fails(t, lethe(t, "run", "ruler/02", "--scale", "atlas"), cli.ExitUsage, "--scale atlas: ruler/02-ten-data-sets.ipynb has quick, hour, large, standard, paper")
}

func TestOutLiesInTheCloneOrAmongTheUnpackedNotebooks(t *testing.T) {
	if got := outParent(&setup.Ready{Clone: true, Root: "clone", Notebooks: "clone/notebooks"}); got != "clone" {
		t.Error(got)
	}
	if got := outParent(&setup.Ready{Clone: true, Root: "elsewhere/clone", Notebooks: "mine"}); got != "mine" {
		t.Error(got)
	}
}
