// Tests of fallback.go.

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestARunOfAFallbackIsReadAndNotCopied(t *testing.T) {
	old, other, s := open(t), open(t), open(t)
	do(t, old, testKey("x"), writes("old"))
	run := do(t, other, testKey("y"), writes("other"))
	before := contents(t, other.Dir())
	s.AddFallbacks(old, other)
	for name, word := range map[string]string{"x": "old", "y": "other"} {
		if b, err := do(t, s, testKey(name), never(t)).Bytes("word"); err != nil || string(b) != word {
			t.Errorf("%q, %v", b, err)
		}
		if _, ok, err := s.Lookup(testKey(name)); !ok || err != nil {
			t.Errorf("not found: %v", err)
		}
	}
	if dir, ok := s.Has(run.ID); !ok || dir != run.Dir {
		t.Errorf("it has %s, %v", dir, ok)
	}
	if dir, ok := s.Has(strings.Repeat("0", 64)); ok {
		t.Errorf("it has %s", dir)
	}
	if _, ok := s.Has("../" + run.ID); ok {
		t.Error("that is no ID")
	}
	do(t, s, testKey("z"), writeSmall)
	if all, err := s.List(); err != nil || len(all) != 1 {
		t.Errorf("it lists %d runs, %v", len(all), err)
	}
	sameContents(t, before, contents(t, other.Dir()))
}

// A store's own run comes first, then those behind it in their order.
func TestStoresAreAskedInTheirOrder(t *testing.T) {
	own, first, second := open(t), open(t), open(t)
	do(t, own, testKey("x"), writes("own"))
	for word, s := range map[string]*Store{"first": first, "second": second} {
		do(t, s, testKey("x"), writes(word))
		do(t, s, testKey("y"), writes(word))
	}
	own.AddFallbacks(first, second)
	for name, word := range map[string]string{"x": "own", "y": "first"} {
		if b, err := do(t, own, testKey(name), never(t)).Bytes("word"); err != nil || string(b) != word {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}

func TestADamagedRunOfAFallbackIsComputedAgain(t *testing.T) {
	old, s := open(t), open(t)
	path := filepath.Join(do(t, old, testKey("x"), writes("one")).Dir, "word")
	if err := os.WriteFile(path, []byte("0ne"), 0o644); err != nil {
		t.Fatal(err)
	}
	old, err := Open(old.Dir())
	if err != nil {
		t.Fatal(err)
	}
	warned := ""
	s.OnWarning = func(text string) { warned = text }
	s.AddFallbacks(old)
	run := do(t, s, testKey("x"), writes("one"))
	if filepath.Dir(filepath.Dir(filepath.Dir(run.Dir))) != s.Dir() || !strings.Contains(warned, path) {
		t.Errorf("run in %s, warning %q", run.Dir, warned)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "0ne" {
		t.Errorf("the damaged file was touched: %q, %v", b, err)
	}
}

func TestInterruptedWorkOfAFallbackIsResumed(t *testing.T) {
	empty, old, s := open(t), open(t), open(t)
	leaveHalf(t, old, testKey("x"))
	before := contents(t, old.Dir())
	s.AddFallbacks(empty, old)
	run := do(t, s, testKey("x"), func(_ context.Context, w *Work) error {
		f, state, ok, err := w.LoadCheckpoint()
		if err != nil || !ok || string(state) != "3" || len(f.Tensors) != 1 {
			t.Errorf("checkpoint %v: %q, %v", ok, state, err)
		}
		return w.WriteFile("rest", []byte("the rest"))
	})
	if b, err := run.Bytes("half"); err != nil || string(b) != "a half" {
		t.Errorf("%q, %v", b, err)
	}
	sameContents(t, before, contents(t, old.Dir()))
}

// A copy of a checkpoint that does not match its hash is no checkpoint.
func TestADamagedCheckpointOfAFallbackIsNotUsed(t *testing.T) {
	old, s := open(t), open(t)
	leaveHalf(t, old, testKey("x"))
	all, err := filepath.Glob(filepath.Join(old.Dir(), workDirName, "*", checkpointDirName, "*"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	b, err := os.ReadFile(all[0])
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 1
	if err := os.WriteFile(all[0], b, 0o644); err != nil {
		t.Fatal(err)
	}
	s.OnWarning = func(string) {}
	s.AddFallbacks(old)
	do(t, s, testKey("x"), func(_ context.Context, w *Work) error {
		if _, _, ok, err := w.LoadCheckpoint(); ok || err != nil {
			t.Errorf("gone on with: %v, %v", ok, err)
		}
		return w.WriteFile("word", nil)
	})
}

// What lies in the place of a file is not read through.
func TestFallbackWorkThatIsNoFileIsNotCopied(t *testing.T) {
	old, s := open(t), open(t)
	leaveHalf(t, old, testKey("x"))
	all, err := filepath.Glob(filepath.Join(old.Dir(), workDirName, "*", outputDirName))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	if err := os.Symlink("/etc/hostname", filepath.Join(all[0], "link")); err != nil {
		t.Skip(err)
	}
	warned := ""
	s.OnWarning = func(text string) { warned = text }
	s.AddFallbacks(old)
	run := do(t, s, testKey("x"), writes("anew"))
	if !strings.Contains(warned, "symbolic link") || len(run.Files()) != 1 {
		t.Errorf("warned %q, files %v", warned, run.Files())
	}
}

func TestAStoreOfOneProcessLocksNoFile(t *testing.T) {
	for _, alone := range []bool{false, true} {
		openIt := Open
		if alone {
			openIt = OpenWithoutLocks
		}
		s, err := openIt(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		locks := -1
		do(t, s, testKey("x"), func(_ context.Context, w *Work) error {
			locks = len(mustList(t, filepath.Join(s.Dir(), locksDirName)))
			return w.WriteFile("word", nil)
		})
		if want := map[bool]int{false: 1, true: 0}[alone]; locks != want {
			t.Errorf("alone %v: %d lock files, want %d", alone, locks, want)
		}
	}
	if _, err := OpenWithoutLocks(""); err == nil {
		t.Error("a store without a name")
	}
}

// Its goroutines still wait for each other.
func TestTheGoroutinesOfAStoreOfOneProcessShareARun(t *testing.T) {
	s, err := OpenWithoutLocks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	began, errs := make(chan struct{}), make(chan error)
	go func() {
		_, err := s.Do(t.Context(), testKey("x"), func(_ context.Context, w *Work) error {
			close(began)
			return w.WriteFile("word", nil)
		})
		errs <- err
	}()
	<-began
	_, err = s.Do(t.Context(), testKey("x"), never(t))
	if err := errors.Join(err, <-errs); err != nil {
		t.Error(err)
	}
}
