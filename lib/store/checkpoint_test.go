// Tests of checkpoint.go.

package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// errStop interrupts a computation.
var errStop = errors.New("stop")

// counted is a computation of ten steps that appends one line per step, saves a
// checkpoint after every third, and stops at the step given.
func counted(stopAt int) func(context.Context, *Work) error {
	return func(_ context.Context, w *Work) error {
		step := 0
		f, state, ok, err := w.LoadCheckpoint()
		if err != nil {
			return err
		}
		if ok {
			if err := json.Unmarshal(state, &step); err != nil {
				return err
			}
			if n, err := f.Tensors[0].Int64s(); err != nil || n[0] != int64(step) {
				return fmt.Errorf("tensors of step %v, state of step %d, %w", n, step, err)
			}
		}
		for ; step < 10; step++ {
			if step == stopAt {
				return errStop
			}
			if step > 0 && step%3 == 0 {
				if err := w.SaveCheckpoint(smallFile(step), step); err != nil {
					return err
				}
			}
			if err := w.AppendLine("log.jsonl", step); err != nil {
				return err
			}
		}
		return w.WriteTensors("weights.safetensors", smallFile(step))
	}
}

var countedKey = Key{Recipe: "counted"}

func checkCounted(t *testing.T, run *Run) {
	t.Helper()
	b, err := run.Bytes("log.jsonl")
	if want := "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n"; err != nil || string(b) != want {
		t.Errorf("found %q, %v", b, err)
	}
	if want := []string{"log.jsonl", "weights.safetensors"}; !slices.Equal(run.Files(), want) {
		t.Errorf("found %v, expected %v", run.Files(), want)
	}
}

// interrupted returns a store whose computation stopped at the step, and its
// checkpoints.
func interrupted(t *testing.T, stopAt int) (*Store, []string) {
	t.Helper()
	s := open(t)
	if _, err := s.Do(t.Context(), countedKey, counted(stopAt)); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(s.Dir(), workDirName, "*", checkpointDirName, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return s, paths
}

func TestInterruptedAtAnyStepEndsLikeUndisturbed(t *testing.T) {
	want := open(t)
	checkCounted(t, do(t, want, countedKey, counted(-1)))
	for stop := range 10 {
		s, _ := interrupted(t, stop)
		checkCounted(t, do(t, s, countedKey, counted(-1)))
		compareTrees(t, want.Dir(), s.Dir())
	}
}

func TestTwoCheckpointsAreKept(t *testing.T) {
	for stop, want := range []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 2} {
		if _, paths := interrupted(t, stop); len(paths) != want {
			t.Errorf("stopped at step %d: found %d checkpoints, expected %d", stop, len(paths), want)
		}
	}
}

func TestDamagedCheckpointIsSetAsideAndTheOneBeforeIsUsed(t *testing.T) {
	for _, damage := range []func(string) error{
		func(path string) error { return os.Truncate(path, 100) },
		func(path string) error { return os.Truncate(path, 0) },
		flipLast,
	} {
		s, paths := interrupted(t, 9)
		if err := damage(paths[1]); err != nil {
			t.Fatal(err)
		}
		var warnings []string
		s.OnWarning = func(text string) { warnings = append(warnings, text) }
		start := -1
		run := do(t, s, countedKey, func(ctx context.Context, w *Work) error {
			if err := json.Unmarshal(w.resume.state, &start); err != nil {
				return err
			}
			return counted(-1)(ctx, w)
		})
		checkCounted(t, run)
		if start != 3 {
			t.Errorf("went on from step %d, expected 3", start)
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], paths[1]) {
			t.Errorf("warnings: %q", warnings)
		}
		if names := mustList(t, filepath.Join(s.Dir(), quarantineDirName)); len(names) != 1 {
			t.Errorf("set aside: %v", names)
		}
	}
}

func flipLast(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)-1] ^= 1
	return os.WriteFile(path, b, 0o644)
}

func TestWithoutAValidCheckpointWorkStartsAnew(t *testing.T) {
	s, paths := interrupted(t, 9)
	for _, path := range paths {
		if err := flipLast(path); err != nil {
			t.Fatal(err)
		}
	}
	warnings := 0
	s.OnWarning = func(string) { warnings++ }
	checkCounted(t, do(t, s, countedKey, counted(-1)))
	if warnings != 2 {
		t.Errorf("%d warnings, expected 2", warnings)
	}
}

func TestCheckpointWhoseOutputHasChangedIsNotUsed(t *testing.T) {
	for _, change := range []func(string) error{os.Remove, flipFirst, func(path string) error { return os.Truncate(path, 1) }} {
		s, paths := interrupted(t, 5)
		if err := change(filepath.Join(filepath.Dir(filepath.Dir(paths[0])), outputDirName, "log.jsonl")); err != nil {
			t.Fatal(err)
		}
		var warnings []string
		s.OnWarning = func(text string) { warnings = append(warnings, text) }
		checkCounted(t, do(t, s, countedKey, counted(-1)))
		if len(warnings) != 1 || !strings.Contains(warnings[0], "log.jsonl") {
			t.Errorf("warnings: %q", warnings)
		}
	}
}

func flipFirst(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[0] ^= 1
	return os.WriteFile(path, b, 0o644)
}

func TestComputationThatIgnoresItsCheckpointStartsAnew(t *testing.T) {
	s, _ := interrupted(t, 5)
	run := do(t, s, countedKey, func(_ context.Context, w *Work) error {
		if err := w.AppendLine("log.jsonl", "new"); err != nil {
			return err
		}
		if _, _, ok, err := w.LoadCheckpoint(); ok || err != nil {
			t.Errorf("a checkpoint is offered after output has begun: %v, %v", ok, err)
		}
		return nil
	})
	if b, err := run.Bytes("log.jsonl"); err != nil || string(b) != "\"new\"\n" {
		t.Errorf("found %q, %v", b, err)
	}
}

func TestOutputThatMayBeHalfOldIsNotPublished(t *testing.T) {
	s, _ := interrupted(t, 5)
	idle := func(context.Context, *Work) error { return nil }
	if _, err := s.Do(t.Context(), countedKey, idle); err == nil || !strings.Contains(err.Error(), "was not loaded") {
		t.Error(err)
	}
	checkCounted(t, do(t, s, countedKey, counted(-1)))
}

func TestCheckpointKeepsMetadataAndState(t *testing.T) {
	s := open(t)
	key := Key{Recipe: "x"}
	saved := smallFile(1)
	saved.Metadata = map[string]string{"who": "me"}
	_, err := s.Do(t.Context(), key, func(_ context.Context, w *Work) error {
		return errors.Join(w.SaveCheckpoint(saved, map[string]int{"epoch": 3}), errStop)
	})
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	do(t, s, key, func(ctx context.Context, w *Work) error {
		f, state, ok, err := w.LoadCheckpoint()
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if len(f.Metadata) != 1 || f.Metadata["who"] != "me" || string(state) != `{"epoch":3}` {
			t.Errorf("found %v and %s", f.Metadata, state)
		}
		return writeSmall(ctx, w)
	})
}

func TestReservedMetadataOfACheckpointIsRefused(t *testing.T) {
	_, err := open(t).Do(t.Context(), Key{Recipe: "x"}, func(_ context.Context, w *Work) error {
		return w.SaveCheckpoint(&safetensors.File{Metadata: map[string]string{stateKey: "1"}}, nil)
	})
	if err == nil || !strings.Contains(err.Error(), "reserved") {
		t.Error(err)
	}
}

func TestScratchSurvivesAndIsNotPartOfTheRun(t *testing.T) {
	s := open(t)
	key := Key{Recipe: "x"}
	_, err := s.Do(t.Context(), key, func(_ context.Context, w *Work) error {
		dir, err := w.Scratch()
		return errors.Join(err, os.WriteFile(filepath.Join(dir, "cache"), []byte("1"), 0o644), errStop)
	})
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	run := do(t, s, key, func(ctx context.Context, w *Work) error {
		dir, err := w.Scratch()
		if err != nil {
			return err
		}
		if b, err := os.ReadFile(filepath.Join(dir, "cache")); err != nil || string(b) != "1" {
			t.Errorf("found %q, %v", b, err)
		}
		return writeSmall(ctx, w)
	})
	checkSmall(t, run)
}
