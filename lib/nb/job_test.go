//go:build unix

package nb

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeProgram stands for lethe: it works until the file named by its last
// argument exists, and ends with 130 when it is interrupted before that.
const fakeProgram = `#!/bin/sh
[ -z "$GONB_PIPE" ] || { echo "has the pipe of the cell" >&2; exit 9; }
trap 'echo saved >&2; exit 130' INT
echo "lethe: first part: 10 %, 3/s, about 9s left" >&2
echo "lethe: table 1: 40 %, 3/s, about 3s left" >&2
echo run >>"$3"
[ "$1" != fail ] || { echo "lethe: no such recipe" >&2; exit 1; }
while [ ! -e "$2" ] && [ -d "${2%/*}" ]; do sleep 0.02; done
echo "the table"
`

// newJob prepares the fake program and the arguments of a job: its word, the
// file that ends it, and the file that counts its starts.
func newJob(t *testing.T, word string) (args []string, finish func(), starts func() int) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "lethe")
	if err := os.WriteFile(program, []byte(fakeProgram), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(ProgramEnv, program)
	t.Setenv(HomeEnv, filepath.Join(dir, "home"))
	t.Setenv("GONB_PIPE", "/nowhere")
	args = []string{word, filepath.Join(dir, "stop"), filepath.Join(dir, "starts")}
	finish = func() {
		if err := os.WriteFile(args[1], nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	starts = func() int {
		text, _ := os.ReadFile(args[2])
		return bytes.Count(text, []byte("\n"))
	}
	t.Cleanup(finish)
	return args, finish, starts
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// soon waits until what is expected has come true.
func soon(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 500 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: never", what)
}

func TestAJobRunsOnceHoweverOftenItIsStarted(t *testing.T) {
	args, finish, starts := newJob(t, "run")
	s, out, _, _ := terminal()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { must(t, s.startJob(args)) })
	}
	wg.Wait()
	if n := strings.Count(out.String(), "Started: "); n != 1 || strings.Count(out.String(), "Running already: ") != 3 {
		t.Errorf("said\n%s", out)
	}
	finish()
	must(t, s.attachJob(context.Background(), args))
	if !strings.Contains(out.String(), "\nthe table\nFinished: lethe run ") {
		t.Errorf("said\n%s", out)
	}
	out.Reset()
	must(t, s.startJob(args))
	must(t, s.attachJob(context.Background(), args))
	if !strings.HasPrefix(out.String(), "Finished already: ") || starts() != 1 {
		t.Errorf("started %d times, said\n%s", starts(), out)
	}
}

func TestAJobOutlivesTheCellThatWatchesIt(t *testing.T) {
	args, finish, _ := newJob(t, "run")
	defer finish()
	s, out, errs, _ := terminal()
	s.now = time.Now
	must(t, s.startJob(args))
	ctx, stop := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer stop()
	must(t, s.attachJob(ctx, args))
	j, err := s.job(args)
	must(t, err)
	if !j.running() || !strings.Contains(out.String(), "goes on without this cell") {
		t.Errorf("running: %v, said\n%s", j.running(), out)
	}
	if !strings.Contains(errs.String(), ": table 1: 40 %, not watched any more after 0.") {
		t.Errorf("the bar says %q", errs)
	}
}

func TestAStoppedJobSavesAndGoesOnWhenItIsStartedAgain(t *testing.T) {
	args, finish, starts := newJob(t, "run")
	s, out, _, _ := terminal()
	s.now = time.Now
	must(t, s.startJob(args))
	soon(t, "the job begins", func() bool { return starts() == 1 })
	must(t, s.stopJob(args))
	j, err := s.job(args)
	must(t, err)
	if code, ended := j.exit(); code != interruptedCode || !ended || !strings.Contains(out.String(), "Stopped: ") {
		t.Errorf("exit code %d, ended %v, said\n%s", code, ended, out)
	}
	if err := s.attachJob(context.Background(), args); err == nil || !strings.Contains(err.Error(), "nb.Start goes on") {
		t.Errorf("attached to a stopped job: error %v", err)
	}
	must(t, s.stopJob(args))
	must(t, s.startJob(args))
	finish()
	must(t, s.attachJob(context.Background(), args))
	if starts() != 2 || !strings.Contains(out.String(), "Finished: ") {
		t.Errorf("started %d times, said\n%s", starts(), out)
	}
}

func TestAFailedJobShowsItsError(t *testing.T) {
	args, _, _ := newJob(t, "fail")
	s, _, _, _ := terminal()
	if err := s.attachJob(context.Background(), args); err == nil || !strings.Contains(err.Error(), "never started") {
		t.Errorf("error %v", err)
	}
	must(t, s.startJob(args))
	err := s.attachJob(context.Background(), args)
	if err == nil || !strings.Contains(err.Error(), "exit code 1") || !strings.Contains(err.Error(), "no such recipe") {
		t.Errorf("error %v", err)
	}
}

func TestAFinishedJobIsComputedAgainByANewerProgram(t *testing.T) {
	args, finish, starts := newJob(t, "run")
	finish()
	s, _, _, _ := terminal()
	for range 2 {
		must(t, s.startJob(args))
		must(t, s.attachJob(context.Background(), args))
		later := time.Now().Add(time.Hour)
		must(t, os.Chtimes(os.Getenv(ProgramEnv), later, later))
	}
	if starts() != 2 {
		t.Errorf("started %d times, want 2", starts())
	}
}

func TestAJobNeedsTheProgram(t *testing.T) {
	t.Setenv(ProgramEnv, "")
	s, _, _, _ := terminal()
	if err := s.startJob([]string{"run"}); err == nil || !strings.Contains(err.Error(), ProgramEnv) {
		t.Errorf("error %v", err)
	}
}

func TestProgressIsReadFromTheEndOfTheLog(t *testing.T) {
	for _, c := range []struct {
		log, what string
		percent   int64
	}{
		{"", "", 0},
		{"lethe: table 1: 40 %, 3/s\nlethe: table 1: 55 %\nsomething else\n", "table 1", 55},
		{"lethe: table 1: 999 %\n", "table 1", 100},
		{"lethe: without a share\n", "", 0},
	} {
		percent, what := progressOf(c.log)
		if percent != c.percent || what != c.what {
			t.Errorf("%q gives %d and %q", c.log, percent, what)
		}
	}
	name := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(name, []byte(fmt.Sprintf("%s\nlast line\n", strings.Repeat("x", 100))), 0o644))
	if got := tail(name, 20); got != "last line\n" {
		t.Errorf("the tail is %q", got)
	}
}
