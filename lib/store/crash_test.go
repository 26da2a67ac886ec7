//go:build unix

// Killed processes: their computations resume.

package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// The crash tests start this test binary again as another process; these
// variables tell it what to do.
const (
	childTask  = "LETHE_STORE_TEST_TASK"
	childStore = "LETHE_STORE_TEST_DIR"
)

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(childTask) {
	case "":
		os.Exit(m.Run())
	case "sweep":
		err = sweep(os.Getenv(childStore), func() { fmt.Println("tick") })
	case "one":
		err = oneRun(os.Getenv(childStore))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// child prepares another process that does the task on the store in dir.
func child(t *testing.T, task, dir string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childTask+"="+task, childStore+"="+dir)
	return cmd
}

// sweep is a small sweep: a few "models" are trained, each in steps with a log
// and checkpoints, and each is then evaluated by a run that asks for its model.
// tick is called at every point where work goes on.
func sweep(dir string, tick func()) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	s.OnWarning = func(text string) { fmt.Println("warning:", text) }
	for seed := range int64(6) {
		trained := Key{Recipe: "train", Seeds: map[string]int64{"init": seed}}
		_, err := s.Do(context.Background(), Key{Recipe: "evaluate", Config: seed}, func(ctx context.Context, w *Work) error {
			model, err := s.Do(ctx, trained, func(_ context.Context, w *Work) error { return trainToy(w, seed, tick) })
			if err != nil {
				return err
			}
			tick()
			f, err := model.Tensors("weights.safetensors")
			if err != nil {
				return err
			}
			weights, err := f.Tensors[0].Float64s()
			if err != nil {
				return err
			}
			return w.WriteJSON("score.json", weights[0])
		})
		if err != nil {
			return err
		}
		tick()
	}
	return nil
}

// trainToy makes a random walk whose state, with the random stream, travels in
// the checkpoint.
func trainToy(w *Work, seed int64, tick func()) error {
	stream := rand.NewPCG(uint64(seed), 1)
	weights := make([]float64, 500)
	var state struct {
		Step   int
		Stream []byte
	}
	f, saved, ok, err := w.LoadCheckpoint()
	if err != nil {
		return err
	}
	if ok {
		if err := json.Unmarshal(saved, &state); err != nil {
			return err
		}
		if err := stream.UnmarshalBinary(state.Stream); err != nil {
			return err
		}
		if weights, err = f.Tensors[0].Float64s(); err != nil {
			return err
		}
	}
	rng := rand.New(stream)
	for ; state.Step < 12; state.Step++ {
		tick()
		if state.Step%2 == 1 {
			if state.Stream, err = stream.MarshalBinary(); err != nil {
				return err
			}
			if err := w.SaveCheckpoint(walk(weights), state); err != nil {
				return err
			}
			tick()
		}
		for i := range weights {
			weights[i] += rng.NormFloat64()
		}
		if err := w.AppendLine("log.jsonl", map[string]any{"step": state.Step, "w": weights[0]}); err != nil {
			return err
		}
	}
	tick()
	return w.WriteTensors("weights.safetensors", walk(weights))
}

func walk(weights []float64) *safetensors.File {
	return &safetensors.File{Tensors: []safetensors.Tensor{safetensors.FromFloat64("w", []int{len(weights)}, weights)}}
}

func TestSweepKilledFiftyTimesEndsLikeUndisturbed(t *testing.T) {
	want := t.TempDir()
	if err := sweep(want, func() {}); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2026, 7))
	dir, kills, finished := t.TempDir(), 0, 0
	for kills < 50 {
		ticks := 1 + rng.IntN(9)
		delay := time.Duration(rng.IntN(4000)) * time.Microsecond
		if killedAfter(t, dir, ticks, delay) {
			kills++
			continue
		}
		compareTrees(t, want, dir) // the sweep was done before the blow fell
		dir, finished = t.TempDir(), finished+1
	}
	if err := child(t, "sweep", dir).Run(); err != nil {
		t.Fatal(err)
	}
	compareTrees(t, want, dir)
	t.Logf("50 kills, %d sweeps finished in between", finished)
}

// killedAfter runs a sweep in another process, kills it with SIGKILL some time
// after a number of ticks, and reports whether it was still alive then.
func killedAfter(t *testing.T, dir string, ticks int, delay time.Duration) bool {
	t.Helper()
	cmd := child(t, "sweep", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; n < ticks && lines.Scan(); n++ {
		if lines.Text() != "tick" {
			t.Errorf("the sweep says: %s", lines.Text())
		}
	}
	time.Sleep(delay)
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(rest)) {
		if strings.TrimSpace(line) != "tick" && strings.HasSuffix(line, "\n") {
			t.Errorf("the sweep says: %s", line)
		}
	}
	if err := cmd.Wait(); err == nil {
		return false
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		t.Errorf("the sweep ended with exit code %d", code)
	}
	return true
}

// oneRun asks for one slow run; every computation leaves a line in a file.
func oneRun(dir string) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	run, err := s.Do(context.Background(), Key{Recipe: "slow"}, func(ctx context.Context, w *Work) error {
		f, err := os.OpenFile(filepath.Join(filepath.Dir(dir), "calls"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			return err
		}
		if _, err := f.WriteString("called\n"); err != nil {
			return err
		}
		time.Sleep(300 * time.Millisecond)
		return errors.Join(f.Close(), writeSmall(ctx, w))
	})
	if err != nil {
		return err
	}
	b, err := run.Bytes("weights.safetensors")
	fmt.Println(run.ID, digest(b))
	return err
}

func TestProcessesComputeARunOnce(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "store")
	answers := make([]string, 4)
	var all sync.WaitGroup
	for i := range answers {
		cmd := child(t, "one", dir)
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			answers[i] = string(out)
		})
	}
	all.Wait()
	for _, answer := range answers {
		if answer != answers[0] || answer == "" {
			t.Errorf("answers differ: %q", answers)
		}
	}
	calls, err := os.ReadFile(filepath.Join(top, "calls"))
	if err != nil || string(calls) != "called\n" {
		t.Errorf("computed %q, %v", calls, err)
	}
}

func TestLockOfAKilledProcessDoesNotBlock(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "store")
	cmd := child(t, "one", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, filepath.Join(top, "calls"))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Fatal("the other process was not killed")
	}
	if len(mustList(t, filepath.Join(dir, locksDirName))) != 1 {
		t.Fatal("the killed process left no lock file, so this test shows nothing")
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.OnWait = func(Key, bool) { t.Error("had to wait for a dead process") }
	checkSmall(t, do(t, s, Key{Recipe: "slow"}, writeSmall))
}

func waitFor(t *testing.T, path string) {
	t.Helper()
	for range 1000 {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
}
