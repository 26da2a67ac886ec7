// Package storetest kills processes that work in a store, and compares what stores hold.
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

// storeEnv names the store in which the process that is killed is to work.
const storeEnv = "LETHE_TEST_KILLED_STORE"

// Main runs a package's tests; in a process that Kills has started it calls child in
// their place, with the folder of its store. What child prints first may be a line that
// begins with "resumed"; the rest is what it has come to.
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

// Kills is how a process is killed: so many times, at moments that the seed draws, and up
// to five times as often until it was hit between a checkpoint and its end.
type Kills struct {
	Times int
	Seed  uint64
	// Resumed is handed the line with which a process says that it goes on from a
	// checkpoint, which one must then have done; nil: they do not say.
	Resumed func(t *testing.T, line string)
}

// Run kills the process again and again, gives it a fresh store where it gets through,
// leaves it alone at last, and wants what one that nobody kills has come to, which it
// returns.
func (k Kills) Run(t *testing.T) string {
	t.Helper()
	began := time.Now()
	want, err := k.attempt(t, t.TempDir(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	rng, dir, resumed := rand.New(rand.NewPCG(12, k.Seed)), t.TempDir(), false
	hear := k.Resumed
	k.Resumed = func(t *testing.T, line string) {
		resumed = true
		if hear != nil {
			hear(t, line)
		}
	}
	missed := func() bool { return hear != nil && !resumed }
	for kills := 0; kills < k.Times || missed() && kills < 5*k.Times; {
		// At most a third of the time that it takes, so that it is hit many times before
		// it gets through; later where it spends most of its time on getting ready, as it
		// does where XLA compiles.
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
		t.Errorf("after %d kills the process has come to %.300s, undisturbed to %.300s", k.Times, got, want)
	}
	if missed() {
		t.Error("no process was killed between its first checkpoint and its end")
	}
	return want
}

// attempt starts the process, kills it after a while, and returns what it has come to.
func (k Kills) attempt(t *testing.T, dir string, after time.Duration) (string, error) {
	t.Helper()
	cmd, out := exec.Command(os.Args[0]), &bytes.Buffer{}
	// Data sets that lie on this machine are none of its business.
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
