// Tests of store.go.

package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// open opens a store in a new folder and fails the test on any warning.
func open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.OnWarning = func(text string) { t.Errorf("warning: %s", text) }
	return s
}

func do(t *testing.T, s *Store, k Key, compute func(context.Context, *Work) error) *Run {
	t.Helper()
	run, err := s.Do(t.Context(), k, compute)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// never is a computation that must not be called.
func never(t *testing.T) func(context.Context, *Work) error {
	return func(context.Context, *Work) error {
		t.Error("computed although the run is there")
		return errors.New("unexpected computation")
	}
}

// smallFile is a tensor file whose bytes depend on n.
func smallFile(n int) *safetensors.File {
	return &safetensors.File{Tensors: []safetensors.Tensor{safetensors.FromInt64("n", []int{2}, []int64{int64(n), 1})}}
}

func writeSmall(_ context.Context, w *Work) error {
	return errors.Join(
		w.WriteTensors("weights.safetensors", smallFile(3)),
		w.WriteJSON("sub/metrics.json", map[string]float64{"auc": 0.5}),
		w.AppendLine("log.jsonl", 1),
		w.AppendLine("log.jsonl", map[string]string{"a": "b\nc"}),
	)
}

func TestFinishedRunIsReturnedWithoutComputing(t *testing.T) {
	s := open(t)
	key := Key{Recipe: "train", Config: struct{ LR float64 }{0.1}, Seeds: map[string]int64{"init": 7}}
	first := do(t, s, key, writeSmall)
	second := do(t, s, key, never(t))
	other, err := Open(s.Dir()) // as another process would
	if err != nil {
		t.Fatal(err)
	}
	third := do(t, other, key, never(t))
	for _, run := range []*Run{first, second, third} {
		checkSmall(t, run)
	}
	if names := mustList(t, filepath.Join(s.Dir(), workDirName)); len(names) > 0 {
		t.Errorf("work folders left: %v", names)
	}
	if names := mustList(t, filepath.Join(s.Dir(), locksDirName)); len(names) > 0 {
		t.Errorf("locks left: %v", names)
	}
}

// checkSmall checks what writeSmall has written.
func checkSmall(t *testing.T, run *Run) {
	t.Helper()
	f, err := run.Tensors("weights.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := f.Tensors[0].Int64s(); err != nil || n[0] != 3 {
		t.Errorf("tensors: found %v, %v", n, err)
	}
	var metrics map[string]float64
	if err := run.JSON("sub/metrics.json", &metrics); err != nil || metrics["auc"] != 0.5 {
		t.Errorf("JSON: found %v, %v", metrics, err)
	}
	var lines []string
	err = run.Lines("log.jsonl", func(line []byte) error {
		lines = append(lines, string(line))
		return nil
	})
	if want := []string{"1", `{"a":"b\nc"}`}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("lines: found %q, %v, expected %q", lines, err, want)
	}
	path, err := run.Path("log.jsonl")
	if err != nil || path != filepath.Join(run.Dir, "log.jsonl") {
		t.Errorf("path: found %s, %v", path, err)
	}
	if want := []string{"log.jsonl", "sub/metrics.json", "weights.safetensors"}; !slices.Equal(run.Files(), want) {
		t.Errorf("files: found %v, expected %v", run.Files(), want)
	}
	if _, err := run.Bytes("none"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "weights.safetensors") {
		t.Errorf("a file that is not there: %v", err)
	}
	if id, err := run.Key.ID(); err != nil || id != run.ID {
		t.Errorf("the run's key has ID %s, %v, the run %s", id, err, run.ID)
	}
}

func mustList(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSameRunHasTheSameBytesInEveryStore(t *testing.T) {
	key := Key{Recipe: "train"}
	a, b := open(t), open(t)
	do(t, a, key, writeSmall)
	time.Sleep(5 * time.Millisecond) // another moment must not show
	do(t, b, key, writeSmall)
	compareTrees(t, filepath.Join(a.Dir(), runsDirName), filepath.Join(b.Dir(), runsDirName))
}

// compareTrees fails unless two folders hold the same files with equal bytes.
func compareTrees(t *testing.T, want, found string) {
	t.Helper()
	a, b := readTree(t, want), readTree(t, found)
	if len(a) == 0 {
		t.Errorf("%s is empty", want)
	}
	for name := range a {
		if content, ok := b[name]; !ok || content != a[name] {
			t.Errorf("%s: missing or different in %s", name, found)
		}
	}
	for name := range b {
		if _, ok := a[name]; !ok {
			t.Errorf("%s: only in %s", name, found)
		}
	}
}

func readTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := walkFiles(dir, func(name string) error {
		b, err := os.ReadFile(filepath.Join(dir, name))
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFailedComputationLeavesNothing(t *testing.T) {
	s := open(t)
	key := Key{Recipe: "train"}
	broken := errors.New("the optimiser diverged")
	_, err := s.Do(t.Context(), key, func(ctx context.Context, w *Work) error {
		return errors.Join(writeSmall(ctx, w), broken)
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "train") {
		t.Error(err)
	}
	if _, ok, err := s.Lookup(key); ok || err != nil {
		t.Errorf("the failed run is there: %v, %v", ok, err)
	}
	if files := readTree(t, s.Dir()); len(files) > 0 {
		t.Errorf("files left: %v", files)
	}
	checkSmall(t, do(t, s, key, writeSmall))
}

func TestRunWithoutFilesIsRefused(t *testing.T) {
	s := open(t)
	_, err := s.Do(t.Context(), Key{Recipe: "x"}, func(context.Context, *Work) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "written no file") {
		t.Error(err)
	}
}

func TestNamesThatLeaveTheRunAreRefused(t *testing.T) {
	s := open(t)
	for _, name := range []string{"", ".", "..", "../x", "/x", "a/../b", `a\b`, "c:x", "a//b", manifestName} {
		_, err := s.Do(t.Context(), Key{Recipe: "x"}, func(_ context.Context, w *Work) error {
			return w.WriteFile(name, []byte("x"))
		})
		if err == nil || !strings.Contains(err.Error(), "file name") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestValuesThatJSONCannotHoldAreRefusedByFileName(t *testing.T) {
	s := open(t)
	_, err := s.Do(t.Context(), Key{Recipe: "x"}, func(_ context.Context, w *Work) error {
		return w.WriteJSON("m.json", func() {})
	})
	if err == nil || !strings.Contains(err.Error(), "m.json") {
		t.Error(err)
	}
}

func TestGoroutinesComputeARunOnce(t *testing.T) {
	s := open(t)
	var calls, waits atomic.Int32
	s.OnWait = func(_ Key, otherStore bool) {
		if otherStore {
			t.Error("a goroutine of the same store is said to be elsewhere")
		}
		waits.Add(1)
	}
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			run, err := s.Do(t.Context(), Key{Recipe: "train"}, func(ctx context.Context, w *Work) error {
				calls.Add(1)
				for waits.Load() < 15 {
					time.Sleep(time.Millisecond)
				}
				return writeSmall(ctx, w)
			})
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := run.Tensors("weights.safetensors"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if calls.Load() != 1 {
		t.Errorf("computed %d times", calls.Load())
	}
}

func TestTwoStoresOfOneFolderComputeARunOnce(t *testing.T) {
	a := open(t)
	b, err := Open(a.Dir())
	if err != nil {
		t.Fatal(err)
	}
	waiting, done := make(chan struct{}), make(chan struct{})
	b.OnWait = func(_ Key, otherStore bool) {
		if !otherStore {
			t.Error("the other store is not said to be elsewhere")
		}
		close(waiting)
	}
	do(t, a, Key{Recipe: "train"}, func(ctx context.Context, w *Work) error {
		go func() {
			defer close(done)
			if _, err := b.Do(t.Context(), Key{Recipe: "train"}, never(t)); err != nil {
				t.Error(err)
			}
		}()
		<-waiting
		return writeSmall(ctx, w)
	})
	<-done
}

func TestWaitEndsWithTheContext(t *testing.T) {
	a := open(t)
	b, err := Open(a.Dir())
	if err != nil {
		t.Fatal(err)
	}
	do(t, a, Key{Recipe: "train"}, func(ctx context.Context, w *Work) error {
		for _, s := range []*Store{a, b} {
			other, cancel := context.WithCancel(t.Context())
			s.OnWait = func(Key, bool) { cancel() }
			if _, err := s.Do(other, Key{Recipe: "train"}, never(t)); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		return writeSmall(ctx, w)
	})
}

func TestRunThatDependsOnItselfIsRefused(t *testing.T) {
	s := open(t)
	inner := Key{Recipe: "inner"}
	outer := Key{Recipe: "outer"}
	_, err := s.Do(t.Context(), outer, func(ctx context.Context, w *Work) error {
		_, err := s.Do(ctx, inner, func(ctx context.Context, w *Work) error {
			_, err := s.Do(ctx, outer, writeSmall)
			return err
		})
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "depends on itself") {
		t.Error(err)
	}
}

func TestCancelledContextComputesNothing(t *testing.T) {
	s := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Do(ctx, Key{Recipe: "x"}, never(t)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDefaultDirIsTheVariableOrTheCache(t *testing.T) {
	t.Setenv("LETHE_STORE", filepath.Join(t.TempDir(), "s"))
	if dir, err := DefaultDir(); err != nil || dir != os.Getenv("LETHE_STORE") {
		t.Error(dir, err)
	}
	t.Setenv("LETHE_STORE", "")
	t.Setenv("XDG_CACHE_HOME", filepath.Join(t.TempDir(), "cache"))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	if dir, err := DefaultDir(); err != nil || dir != filepath.Join(cache, "lethe", "runs") {
		t.Error(dir, err)
	}
}

func TestFileInThePlaceOfTheStoreIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "expected a folder, found a file") {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(path, "sub")); err == nil || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if _, err := Open(""); err == nil {
		t.Error("an empty name is accepted")
	}
}

func TestManifestIsJSONThatNamesTheKey(t *testing.T) {
	run := do(t, open(t), Key{Recipe: "train", Results: 4}, writeSmall)
	b, err := os.ReadFile(filepath.Join(run.Dir, manifestName))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Key Key }
	if err := json.Unmarshal(b, &m); err != nil || m.Key.Recipe != "train" || m.Key.Results != 4 {
		t.Errorf("%s, %v", b, err)
	}
}
