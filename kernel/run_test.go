package kernel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/kernel/setup"
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
		if r.code != exitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %s", args, r, want)
		}
	}
}

func TestLintNeedsNoPythonAndItsProblemsAreFailures(t *testing.T) {
	t.Setenv("PATH", "")
	r := lethe(t, strings.Fields("run --lint notebook/testdata/good.ipynb")...)
	if r.code != exitOK || r.out != "no problems in 1 notebooks\n" {
		t.Errorf("%+v", r)
	}
	r = lethe(t, strings.Fields("run --lint notebook/testdata/jupyter.ipynb")...)
	if r.code != exitFailure || !strings.Contains(r.out, "notebook/testdata/jupyter.ipynb: cell 2: failed: v: correct") || !strings.Contains(r.stderr, "problems in 1 notebooks") {
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
	if got, err := allNotebooks(dir); err != nil || len(got) != 1 || got[0] != path {
		t.Errorf("%q, %v", got, err)
	}
	t.Chdir(dir)
	if got, err := allNotebooks(dir); err != nil || len(got) != 1 || got[0] != filepath.Join("start", "a.ipynb") {
		t.Errorf("from inside: %q, %v", got, err)
	}
}

func TestOutLiesInTheCloneOrAmongTheUnpackedNotebooks(t *testing.T) {
	if got := outBeside(&setup.Ready{Clone: true, Root: "clone", Notebooks: "clone/notebooks"}); got != "clone" {
		t.Error(got)
	}
	if got := outBeside(&setup.Ready{Root: "cache", Notebooks: "mine"}); got != "mine" {
		t.Error(got)
	}
}

func TestLatenciesArePrintedWithTheirGoals(t *testing.T) {
	table := cellsTable([]cellTimes{{"built in", "first", 1.2, goalFirst, []float64{1, 1.4}}, {"built in", "later", 0.81, goalLater, []float64{0.81}}}, 2)
	var b strings.Builder
	if err := table.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in 2 rounds on ", "1.20         1.40       1.5  met", "0.81         0.81       0.8  missed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestTheLoadIsReadWhereTheSystemHasIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "loadavg")
	for text, want := range map[string]float64{"8.87 8.07 7.31 3/400 1\n": 8.87, "": 0, "much": 0} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := load(path); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := load(path + "missing"); got != 0 {
		t.Error(got)
	}
}
