// Tests of run.go.

package notebook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/nb"
)

// cells is a notebook of a title and code cells.
func cells(sources ...string) *Notebook {
	nb := &Notebook{Cells: []Cell{{Kind: Markdown, ID: "m", Source: "# Title", Metadata: Object{}}}}
	for i, s := range sources {
		nb.Cells = append(nb.Cells, Cell{Kind: Code, ID: "c" + string(rune('0'+i)), Source: s, Metadata: Object{}})
	}
	return rewritten(nb)
}

// rewritten is a notebook whose text says what its fields say.
func rewritten(nb *Notebook) *Notebook {
	nb.Text = []byte(fakeText(nb))
	return nb
}

func TestCellsRunInOrderAndTheirOutputsAreKept(t *testing.T) {
	nb := cells("print one\nnoise\nprint two", "", "env LETHE_SCALE\nenv LETHE_HEADLESS")
	nb.Metadata = Object{"mine": "kept", "kernelspec": Object{"name": "gonb"}}
	nb.Cells[1].Count, nb.Cells[1].Outputs = 17, []*Output{{Type: StreamOutput, Text: "old"}}
	rewritten(nb)
	var steps []Step
	r := Run{Jupyter: fake("ok"), Scale: "standard", OnCell: func(s Step) { steps = append(steps, s) }}
	total, err := r.Execute(t.Context(), nb)
	if err != nil || total.Cells != 2 || total.Seconds != 0.5 || total.Start <= 0 {
		t.Fatalf("%+v, %v", total, err)
	}
	if got := nb.Cells[1].Outputs; len(got) != 2 || got[1].Text != "two\n" || nb.Cells[1].Count != 1 {
		t.Errorf("first cell: %+v", nb.Cells[1])
	}
	if got := nb.Cells[3].Outputs; len(got) != 2 || got[0].Text != "LETHE_SCALE=standard\n" || got[1].Text != "LETHE_HEADLESS=1\n" || nb.Cells[3].Count != 2 {
		t.Errorf("last cell: %+v", nb.Cells[3])
	}
	if len(steps) != 2 || steps[1].Cell != 4 || steps[1].Count != 2 || steps[1].Seconds != 0.25 {
		t.Errorf("steps: %+v", steps)
	}
	info, _ := nb.Metadata["language_info"].(Object)
	spec, _ := nb.Metadata["kernelspec"].(Object)
	if info["pygments_lexer"] != "go" || spec["name"] != KernelName || nb.Metadata["mine"] != "kept" {
		t.Errorf("metadata: %v", nb.Metadata)
	}
}

func TestCellsAreToldThatTheyAreHeadless(t *testing.T) {
	if headless != nb.HeadlessEnv+"=1" {
		t.Error(headless)
	}
}

func TestCellsAreToldHowLongTheyMayDrawStates(t *testing.T) {
	if statesEnv != nb.StatesEnv {
		t.Errorf("%s, cells ask for %s", statesEnv, nb.StatesEnv)
	}
	t.Setenv(statesEnv, "1h") // of whoever calls lethe run
	for states, want := range map[time.Duration]string{0: "LETHE_STATES=0s\n", 20 * time.Second: "LETHE_STATES=20s\n"} {
		nb := cells("env LETHE_STATES")
		if _, err := (Run{Jupyter: fake("ok"), States: states}).Execute(t.Context(), nb); err != nil {
			t.Fatal(err)
		}
		if got := nb.Cells[1].Outputs; len(got) != 1 || got[0].Text != want {
			t.Errorf("for %v the cell is told %+v", states, got)
		}
	}
}

func TestTheRunStopsAtTheFirstCellThatFails(t *testing.T) {
	for _, c := range []struct{ name, bad, reason, detail string }{
		{"an error", "error undefined: y", "undefined: y", "Cell[2]: Line 1"},
		{"an error after a warning", "warn low on memory\nerror index out of range", "index out of range", "Cell[2]: Line 1"},
	} {
		nb := cells("print fine", c.bad, "print never")
		nb.Cells[3].Outputs = []*Output{{Type: StreamOutput, Name: "stdout", Text: "old"}}
		rewritten(nb)
		total, err := (Run{Jupyter: fake("ok")}).Execute(t.Context(), nb)
		var failed *Failure
		if !errors.As(err, &failed) || !strings.HasPrefix(err.Error(), "cell 3 [2]: ") || failed.Reason != c.reason || total.Cells != 2 {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !strings.Contains(strings.Join(failed.Detail, "\n"), c.detail) {
			t.Errorf("%s: %q", c.name, failed.Detail)
		}
		if last := nb.Cells[3]; last.Count != 0 || last.Outputs != nil {
			t.Errorf("%s: a cell that did not run has %+v", c.name, last)
		}
	}
}

func TestACellThatRunsTooLongIsStopped(t *testing.T) {
	nb := cells("print before\nsleep", "print never")
	_, err := (Run{Jupyter: fake("ok"), Timeout: 50 * time.Millisecond}).Execute(t.Context(), nb)
	if err == nil || !strings.Contains(err.Error(), "cell 2 [1]: ran longer than 50ms and was stopped") {
		t.Error(err)
	}
	if got := nb.Cells[1].Outputs; len(got) == 0 || got[0].Text != "before\n" {
		t.Errorf("outputs until then: %+v", got)
	}
}

func TestACellThatIgnoresTheInterruptIsEndedWithItsKernel(t *testing.T) {
	defer func(d time.Duration) { stopTime = d }(stopTime)
	stopTime = 50 * time.Millisecond
	nb := cells("print before", "print x\ndeaf", "print never")
	began := time.Now()
	_, err := (Run{Jupyter: fake("ok"), Timeout: 50 * time.Millisecond}).Execute(t.Context(), nb)
	if err == nil || err.Error() != "cell 3 [2]: ran longer than 50ms and was stopped" || time.Since(began) > endTime {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if got := nb.Cells[1].Outputs; len(got) != 1 || got[0].Text != "before\n" {
		t.Errorf("what ran before it: %+v", got)
	}
}

func TestAnInterruptStopsTheCellAndKeepsWhatItSaid(t *testing.T) {
	cause := errors.New("the reader's wish")
	ctx, stop := context.WithCancelCause(t.Context())
	r := Run{Jupyter: fake("ok"), OnCell: func(s Step) {
		if s.Count == 1 {
			time.AfterFunc(50*time.Millisecond, func() { stop(cause) })
		}
	}}
	nb := cells("print one", "sleep", "print never")
	total, err := r.Execute(ctx, nb)
	var failed *Failure
	if !errors.Is(err, cause) || !errors.As(err, &failed) || !strings.HasPrefix(failed.Reason, "interrupted after ") || total.Cells != 2 {
		t.Fatal(err)
	}
	if len(failed.Detail) != 1 || failed.Detail[0] != "state saved" {
		t.Errorf("%q", failed.Detail)
	}
}

func TestAKernelThatEndsIsAnErrorThatSaysWhy(t *testing.T) {
	for _, c := range []struct{ how, code, want string }{
		{"missing", "", "the kernel fake did not start: its Python ended: ModuleNotFoundError: No module named 'nbclient'"},
		{"no kernel", "", "the kernel fake did not start: NoSuchKernel: No such kernel named fake"},
		{"ok", "die", "cell 2 [1]: its Python ended: Segmentation fault"},
		{"ok", "lose", "cell 2 [1]: the kernel died while the cell ran (out of memory?)"},
	} {
		_, err := (Run{Jupyter: fake(c.how)}).Execute(t.Context(), cells(c.code+" "))
		if c.code == "" {
			_, err = (Run{Jupyter: fake(c.how)}).Execute(t.Context(), cells("print x"))
		}
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %s: %v", c.how, c.code, err)
		}
	}
	if _, err := (Run{Jupyter: Jupyter{Python: "/does/not/exist"}}).Execute(t.Context(), cells("print x")); err == nil || !strings.Contains(err.Error(), "Python cannot be started") {
		t.Error(err)
	}
}

func batch(t *testing.T, out *strings.Builder) Batch {
	t.Helper()
	dir := t.TempDir()
	return Batch{Run: Run{Jupyter: fake("ok"), Root: dir}, Base: filepath.Join(dir, "notebooks"), Out: filepath.Join(dir, "out"), Stdout: out}
}

// writeNotebook saves a notebook below the batch's folder.
func writeNotebook(t *testing.T, b Batch, name string, nb *Notebook) string {
	t.Helper()
	path := filepath.Join(b.Base, name)
	if err := rewritten(nb).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestABatchTellsOfEveryCellAndSavesNotebooksAndPages(t *testing.T) {
	var out strings.Builder
	b := batch(t, &out)
	b.Pages = true
	a := writeNotebook(t, b, "start/a.ipynb", cells("// A test.\nprint claim holds: x — 1", "print claim FAILS: y — 2"))
	c := writeNotebook(t, b, "start/c.ipynb", cells("print "+b.Root+"/lib/x.go"))
	if err := b.Execute(t.Context(), []string{a, c}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		a + "\n  cell  2   [1]    0.25 s  A test\n  cell  3   [2]    0.25 s  print claim FAILS: y — 2\n  2 cells in 0.5 s, kernel started in ",
		"; saved " + filepath.Join(b.Out, "start", "a.ipynb") + " and " + filepath.Join(b.Out, "start", "a.html") + "\n",
		"  cell 3: claim FAILS: y — 2\n  claims: 1 hold, 1 fail\n",
		"\n2 notebooks in ",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if page := read(t, filepath.Join(b.Out, "start", "a.html")); !strings.Contains(page, "claim holds: x") {
		t.Error(page)
	}
	if saved := read(t, filepath.Join(b.Out, "start", "c.ipynb")); !strings.Contains(saved, `"./lib/x.go\n"`) {
		t.Error(saved)
	}
	if original := read(t, a); strings.Contains(original, "stream") {
		t.Error("the original was changed")
	}
}

func TestAPageThatNbconvertCannotMakeIsAnError(t *testing.T) {
	page := filepath.Join(t.TempDir(), "p.html")
	err := fake("ok").HTML(t.Context(), "missing.ipynb", page)
	if err == nil || !strings.Contains(err.Error(), "no web page: nbconvert: exit status 1: bad call") {
		t.Error(err)
	}
	if _, err := os.Stat(page); err == nil {
		t.Error("there is a page")
	}
}

func TestInPlaceOnlyAWholeRunReplacesTheOriginal(t *testing.T) {
	var out strings.Builder
	b := batch(t, &out)
	b.InPlace = true
	good := writeNotebook(t, b, "good.ipynb", cells("print x"))
	bad := writeNotebook(t, b, "bad.ipynb", cells("print x", "error undefined: y"))
	before := read(t, bad)
	err := b.Execute(t.Context(), []string{good, bad})
	if err == nil || err.Error() != bad+": cell 3 [2]: undefined: y" {
		t.Error(err)
	}
	if !strings.Contains(read(t, good), `"x\n"`) {
		t.Error("the notebook that ran was not replaced")
	}
	if read(t, bad) != before {
		t.Error("the notebook that failed was replaced")
	}
	partial := filepath.Join(b.Out, "bad.ipynb")
	if !strings.Contains(read(t, partial), `"x\n"`) || !strings.Contains(out.String(), "    undefined: y\n    | Cell[2]: Line 1\n  stopped after 2 of 2 cells; saved "+partial+"\n") {
		t.Error(out.String())
	}
}

func TestTheCheckPrintsClaimsThatDifferAndFails(t *testing.T) {
	var out strings.Builder
	b := batch(t, &out)
	b.Check = true
	committed := func(nb *Notebook, lines string) *Notebook {
		last := &nb.Cells[len(nb.Cells)-1]
		last.Count, last.Outputs = 1, []*Output{{Type: StreamOutput, Name: "stdout", Text: lines}}
		return nb
	}
	same := writeNotebook(t, b, "same.ipynb", committed(cells("print claim holds: x — 2\nprint claim FAILS: z — 0"), "claim holds: x — 1\nclaim FAILS: z — 0\n"))
	differ := writeNotebook(t, b, "differ.ipynb", committed(cells("print claim FAILS: x — 2"), "claim holds: x — 1\nclaim holds: gone — 1\n"))
	none := writeNotebook(t, b, "none.ipynb", cells("print x"))
	err := b.Execute(t.Context(), []string{same, differ, none})
	if err == nil || err.Error() != "the claims of 2 of 3 notebooks are not those that are committed" {
		t.Error(err)
	}
	for _, want := range []string{
		"  claims: 1 hold, 1 fail\n  check: the same claims as committed\n",
		"  check: cell 2\n    committed: claim holds: x — 1\n    now:       claim FAILS: x — 2\n",
		"  check: cell 2\n    committed: claim holds: gone — 1\n    now:       not there\n",
		"  check: 0 claims committed, 0 now: a notebook needs a claims cell, and its outputs committed\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestNotebooksThatRunTogetherKeepTheirLinesTogetherAndFailAlone(t *testing.T) {
	var out strings.Builder
	b := batch(t, &out)
	b.Jobs = 2
	bad := writeNotebook(t, b, "bad.ipynb", cells("error undefined: y"))
	good := writeNotebook(t, b, "good.ipynb", cells("print 1", "print 2", "print 3"))
	waits := writeNotebook(t, b, "waits.ipynb", cells("meet "+b.Root, "print x"))
	other := writeNotebook(t, b, "other.ipynb", cells("meet "+b.Root, "print y"))
	if err := b.Execute(t.Context(), []string{waits, other}); err != nil {
		t.Fatal("they did not run side by side: ", err)
	}
	err := b.Execute(t.Context(), []string{bad, good, good + "x/never.ipynb", good + "y/never2.ipynb"})
	if err == nil || !strings.Contains(err.Error(), bad+": cell 2 [1]: undefined: y") || strings.Contains(err.Error(), "never2") {
		t.Error(err)
	}
	for _, want := range []string{other + "\n  cell  2", "print 1\n  cell  3   [2]    0.25 s  print 2\n  cell  4   [3]    0.25 s  print 3\n  3 cells in 0.8 s"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestANotebookThatRunsTooLongIsStoppedWhereverItIs(t *testing.T) {
	var out strings.Builder
	b := batch(t, &out)
	b.Limit = 3 * time.Second // the kernel starts in it, on a busy machine too
	path := writeNotebook(t, b, "long.ipynb", cells("print x", "sleep", "print never"))
	err := b.Execute(t.Context(), []string{path})
	if err == nil || !strings.HasPrefix(err.Error(), path+": the notebook ran longer than 3s: cell 3 [2]: interrupted after ") {
		t.Error(err)
	}
}

func TestTwoNotebooksDoNotShareAFile(t *testing.T) {
	var out strings.Builder
	b := batch(t, &out)
	if err := b.Execute(t.Context(), []string{"x/a.ipynb", "y/a.ipynb"}); err == nil || !strings.Contains(err.Error(), "would both be saved as") {
		t.Error(err)
	}
}

func TestNothingIsSavedOfANotebookWithoutAKernel(t *testing.T) {
	var out strings.Builder
	b := batch(t, &out)
	b.Jupyter = fake("no kernel")
	path := writeNotebook(t, b, "a.ipynb", cells("print x"))
	if err := b.Execute(t.Context(), []string{path}); err == nil || !strings.HasPrefix(err.Error(), path+": the kernel fake did not start") {
		t.Error(err)
	}
	if _, err := os.Stat(b.Out); err == nil {
		t.Error("something was saved")
	}
}
