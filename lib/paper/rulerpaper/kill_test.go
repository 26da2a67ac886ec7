package rulerpaper

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/engine"
	"github.com/lethe-ml/lethe/lib/paper"
	"github.com/lethe-ml/lethe/lib/store"
)

// killScale is the small sweep that is killed.
func killScale() Scale {
	return Scale{Name: "kill", DataSets: []string{"two_moons"}, Seeds: 2, MaxRows: 60}
}

// sweepChild is the process that the test kills: it computes Table 1 into the
// store and prints it.
func sweepChild(dir string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	e, err := engine.Open("auto")
	if err != nil {
		fail(err)
	}
	s, err := store.Open(dir)
	if err != nil {
		fail(err)
	}
	out, err := table3.Run(context.Background(), envOf(&paper.Env{Engine: e, Store: s}), killScale())
	if err != nil {
		fail(err)
	}
	if err := out.Table.JSON(os.Stdout); err != nil {
		fail(err)
	}
}

func child(t *testing.T, dir string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LETHE_TEST_SWEEP="+dir, "LETHE_DATA="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	return cmd, &out
}

func TestASweepKilledFiftyTimesEndsInTheSameTable(t *testing.T) {
	quiet, want := child(t, t.TempDir())
	began := time.Now()
	if err := quiet.Run(); err != nil {
		t.Fatal(err)
	}
	whole := time.Since(began)
	rng := rand.New(rand.NewPCG(50, 1))
	dir := t.TempDir()
	for kills := 0; kills < 50; {
		cmd, _ := child(t, dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// At most a third of the undisturbed time, so that a sweep is hit many
		// times before it is through.
		timer := time.AfterFunc(time.Duration(rng.Int64N(int64(whole/3))), func() { _ = cmd.Process.Kill() })
		err := cmd.Wait()
		timer.Stop()
		if err != nil {
			kills++
			continue
		}
		dir = t.TempDir() // it got through: the next kills hit a fresh sweep
	}
	cmd, got := child(t, dir)
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Error("the table after fifty kills differs from the undisturbed one")
	}
}
