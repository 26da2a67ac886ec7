//go:build unix

// Tests of e2e.go.

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// fakeNode notes what it was given; what it does then stands in the variable DO.
const fakeNode = `test "$1" = --version && { echo v22.0.0; exit; }
echo "$*" > "$NOTES/called"; echo "$LETHE_E2E_GIVEN" > "$NOTES/given"; echo "$LETHE_HEADLESS|$LETHE_STORE|$TMPDIR" > "$NOTES/env"
test -f "$4" && test -f "$(dirname "$4")/../node_modules/@playwright/test/package.json" || exit 9
echo "ok a step"
eval "$DO"`

// fakeRun runs against programs that only pretend, and returns the folder of
// their notes.
func fakeRun(t *testing.T, ctx context.Context, do string) (notes, out string, err error) {
	t.Helper()
	bin := onlyPrograms(t, map[string]string{"node": fakeNode, "npm": npm, "chromium": ""})
	notes = t.TempDir()
	temp := t.TempDir()
	for name, value := range map[string]string{"NOTES": notes, "DO": do, "TMPDIR": temp, "LETHE_HEADLESS": "1"} {
		t.Setenv(name, value)
	}
	shots := filepath.Join(notes, "shots")
	write(t, filepath.Join(shots, "old.png"), "", 0o644)
	write(t, filepath.Join(shots, "kept.txt"), "", 0o644)
	var printed bytes.Buffer
	err = Run(ctx, Options{
		Program: filepath.Join(bin, "lethe"), Root: notes, Home: t.TempDir(), Shots: shots,
		Notebooks: fstest.MapFS{"start/00.ipynb": {Data: []byte("{}")}},
		Only:      []string{"run-all"}, Out: &printed, Notes: io.Discard,
	})
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left in the folder for temporary files: %v", left)
	}
	return notes, printed.String(), err
}

func TestARunGivesPlaywrightItsWorld(t *testing.T) {
	notes, out, err := fakeRun(t, t.Context(), `dir=$(dirname "$(dirname "$4")"); test -f "$dir/notebooks/start/00.ipynb" && echo "notebooks are there"`)
	if err != nil || out != "ok a step\nnotebooks are there\n" {
		t.Errorf("printed %q, %v", out, err)
	}
	var given struct{ Program, Folder, Browser, Shots string }
	if err := json.Unmarshal([]byte(read(t, filepath.Join(notes, "given"))), &given); err != nil {
		t.Fatal(err)
	}
	if filepath.Base(given.Program) != "lethe" || filepath.Base(given.Browser) != "chromium" || filepath.Base(given.Folder) != "notebooks" {
		t.Errorf("Playwright got %+v", given)
	}
	called := read(t, filepath.Join(notes, "called"))
	if !strings.Contains(called, "node_modules/@playwright/test/cli.js test --config ") || !strings.HasSuffix(called, ` /\d+-run-all\.mjs$`+"\n") {
		t.Errorf("called with %q", called)
	}
	dir := filepath.Dir(given.Folder)
	if got, want := read(t, filepath.Join(notes, "env")), "|"+dir+"/runs|"+dir+"/tmp\n"; got != want {
		t.Errorf("in the environment is %q, want %q", got, want)
	}
	if shots, _ := os.ReadDir(given.Shots); len(shots) != 1 || shots[0].Name() != "kept.txt" {
		t.Errorf("in the folder for screenshots are %v", shots)
	}
}

func TestFailedStepsAreAnErrorThatNamesTheScreenshots(t *testing.T) {
	notes, _, err := fakeRun(t, t.Context(), "exit 1")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(notes, "shots")) {
		t.Errorf("got %v", err)
	}
}

func TestAnInterruptLetsPlaywrightTidyUp(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	interrupt := errors.New("Ctrl-C")
	go func() {
		defer stop(interrupt)
		for ; t.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(os.Getenv("NOTES"), "ready")); err == nil {
				return
			}
		}
	}()
	notes, _, err := fakeRun(t, ctx, `trap 'echo closed > "$NOTES/closed"; exit 130' INT; touch "$NOTES/ready"; while :; do sleep 0.05; done`)
	if !errors.Is(err, interrupt) {
		t.Errorf("got %v", err)
	}
	read(t, filepath.Join(notes, "closed"))
}

func TestWhatPlaywrightLeavesRunningIsAnError(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the environment of other processes cannot be read")
	}
	defer func(d time.Duration) { cacheTimeout = d }(cacheTimeout)
	cacheTimeout = 0
	_, _, err := fakeRun(t, t.Context(), `setsid sleep 30 > /dev/null 2>&1 & sleep 0.2`)
	if err == nil || !strings.Contains(err.Error(), "still running after the test, now ended: sleep") {
		t.Errorf("got %v", err)
	}
}
