//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// fakeLab prints an address and notes how it was called, and that it was asked
// to stop.
const fakeLab = `echo $$ > "$NOTES/pid"
echo "$PWD|$*|$LETHE_HEADLESS|$LETHE_STORE" > "$NOTES/lab"
trap 'echo stopped > "$NOTES/stopped"; exit 0' TERM
echo "http://127.0.0.1:8888/lab?token=abc"
while :; do sleep 0.05; done`

// fakeNode notes what it was given; what it does then stands in the variable DO.
const fakeNode = `test "$1" = --version && { echo v22.0.0; exit; }
echo "$2" > "$NOTES/given"
test -f "$1" && test -f node_modules/playwright-core/package.json || exit 9
echo "ok a step"
eval "$DO"`

// fakeRun runs against programs that only pretend, and returns the folder of
// their notes.
func fakeRun(t *testing.T, ctx context.Context, do string) (notes, out string, err error) {
	t.Helper()
	bin := onlyPrograms(t, map[string]string{"lethe": fakeLab, "node": fakeNode, "npm": npm, "chromium": ""})
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

func TestARunGivesTheScriptItsWorldAndEndsTheLab(t *testing.T) {
	notes, out, err := fakeRun(t, t.Context(), `dir=$(dirname "$(dirname "$1")"); test -f "$dir/notebooks/start/00.ipynb" && echo "notebooks are there"`)
	if err != nil || out != "ok a step\nnotebooks are there\n" {
		t.Errorf("printed %q, %v", out, err)
	}
	var given struct {
		URL, Folder, Browser, Shots string
		Seconds                     float64
		Only, Args                  []string
	}
	if err := json.Unmarshal([]byte(read(t, filepath.Join(notes, "given"))), &given); err != nil {
		t.Fatal(err)
	}
	if given.URL != "http://127.0.0.1:8888/lab?token=abc" || given.Seconds != 360 || given.Only[0] != "run-all" || filepath.Base(given.Browser) != "chromium" || len(given.Args) == 0 {
		t.Errorf("the script got %+v", given)
	}
	lab := strings.Split(strings.TrimSpace(read(t, filepath.Join(notes, "lab"))), "|")
	if lab[1] != "lab "+given.Folder+" --no-browser" || lab[2] != "" || !strings.HasPrefix(lab[3], filepath.Dir(given.Folder)) {
		t.Errorf("lethe lab was called like this: %q", lab)
	}
	if read(t, filepath.Join(notes, "stopped")) != "stopped\n" {
		t.Error("lethe lab was not asked to stop")
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
	read(t, filepath.Join(notes, "stopped"))
}

func TestAnInterruptEndsScriptAndLab(t *testing.T) {
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
	notes, _, err := fakeRun(t, ctx, `trap 'echo closed > "$NOTES/closed"; exit 143' TERM; touch "$NOTES/ready"; while :; do sleep 0.05; done`)
	if !errors.Is(err, interrupt) {
		t.Errorf("got %v", err)
	}
	read(t, filepath.Join(notes, "closed"))
	read(t, filepath.Join(notes, "stopped"))
}

func TestALabThatEndsIsAnErrorOfItsOwn(t *testing.T) {
	_, _, err := fakeRun(t, t.Context(), `kill -KILL $(cat "$NOTES/pid"); exec sleep 60`)
	if err == nil || !strings.Contains(err.Error(), "lethe lab ended during the test") {
		t.Errorf("got %v", err)
	}
}
