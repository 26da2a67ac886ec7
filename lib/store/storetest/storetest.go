// Package storetest tests resuming: it kills processes that work in a store, and compares
// the contents of stores.
package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// storeEnv is the variable that names the store of the process to kill.
const storeEnv = "LETHE_TEST_KILLED_STORE"

// Main runs a package's tests. In a process started by Kills it calls child instead, with
// the folder of its store. child may print a first line that begins with "resumed"; the
// rest of its output is its result.
func Main(m *testing.M, child func(dir string) error) {
	dir := os.Getenv(storeEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := child(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Kills describes how a process is killed: Times times, at moments drawn from Seed, and up
// to five times as often until it was killed between a checkpoint and its end.
type Kills struct {
	Times int
	Seed  uint64
	// Resumed, if it is not nil, gets the line with which a process says that it resumed
	// from a checkpoint. At least one process must then have resumed.
	Resumed func(t *testing.T, line string)
}

// Run kills the process repeatedly, with a fresh store whenever it finishes, and finally
// lets it finish. The result must be that of an undisturbed process, which Run returns.
func (k Kills) Run(t *testing.T) string {
	t.Helper()
	began := time.Now()
	want, err := k.attempt(t, t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	rng, dir, resumed := rand.New(rand.NewPCG(12, k.Seed)), t.TempDir(), false
	onResumed := k.Resumed
	k.Resumed = func(t *testing.T, line string) {
		resumed = true
		if onResumed != nil {
			onResumed(t, line)
		}
	}
	missed := func() bool { return onResumed != nil && !resumed }
	for kills := 0; kills < k.Times || missed() && kills < 5*k.Times; {
		// At most a third of its running time, so that it is killed many times before it
		// finishes; later, where most of the time is preparation (XLA compiles).
		within := whole / 3
		if kills >= k.Times {
			within = whole
		}
		if _, err := k.attempt(t, dir, time.Duration(rng.Int64N(int64(within)))); err != nil {
			kills++
		} else {
			dir = t.TempDir()
		}
	}
	switch got, err := k.attempt(t, dir, time.Hour); {
	case err != nil:
		t.Error(err)
	case got != want:
		t.Errorf("after %d kills the result is %.300s, undisturbed %.300s", k.Times, got, want)
	}
	if missed() {
		t.Error("no process was killed between its first checkpoint and its end")
	}
	return want
}

// attempt starts the process, kills it after a while, and returns its result.
func (k Kills) attempt(t *testing.T, dir string, after time.Duration) (string, error) {
	t.Helper()
	cmd, out := exec.Command(os.Args[0]), &bytes.Buffer{}
	// The process must not see data sets of this machine.
	cmd.Env = append(os.Environ(), storeEnv+"="+dir, "LETHE_DATA="+dir)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	err := cmd.Wait()
	text := out.String()
	if first, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(first, "resumed") {
		text = rest
		if k.Resumed != nil {
			k.Resumed(t, first)
		}
	}
	return text, err
}
