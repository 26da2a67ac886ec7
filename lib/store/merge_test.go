// Tests of merge.go.

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// contents are the bytes of every file below a folder, by name.
func contents(t *testing.T, dir string) map[string]string {
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

func sameContents(t *testing.T, a, b map[string]string) {
	t.Helper()
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs or is missing", name)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d files and %d", len(a), len(b))
	}
}

// writes is a computation that leaves a word.
func writes(word string) func(context.Context, *Work) error {
	return func(_ context.Context, w *Work) error { return w.WriteFile("word", []byte(word)) }
}

func merge(t *testing.T, to, from *Store) Merged {
	t.Helper()
	before := contents(t, from.Dir())
	m, err := to.Merge(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	sameContents(t, before, contents(t, from.Dir()))
	return m
}

func testKey(recipe string) Key { return Key{Recipe: recipe, Config: struct{ LR float64 }{0.1}} }

func TestMergedStoresHoldTheBytesOfOne(t *testing.T) {
	all, a, b := open(t), open(t), open(t)
	for _, name := range []string{"x", "y", "z"} {
		do(t, all, testKey(name), writeSmall)
	}
	do(t, a, testKey("x"), writeSmall)
	do(t, a, testKey("y"), writeSmall)
	do(t, b, testKey("y"), writeSmall)
	do(t, b, testKey("z"), writeSmall)
	to := open(t)
	if m := merge(t, to, a); m.Added != 2 || m.Same != 0 || m.Bytes == 0 || len(m.Refused) > 0 {
		t.Errorf("%+v", m)
	}
	if m := merge(t, to, b); m.Added != 1 || m.Same != 1 || len(m.Refused) > 0 {
		t.Errorf("%+v", m)
	}
	sameContents(t, contents(t, all.Dir()), contents(t, to.Dir()))
	checkSmall(t, do(t, to, testKey("z"), never(t)))
}

func TestADamagedRunIsLeftOutOfAMergeByName(t *testing.T) {
	from, to := open(t), open(t)
	bad := do(t, from, testKey("bad"), writes("one"))
	do(t, from, testKey("good"), writes("two"))
	broken := do(t, from, testKey("no manifest"), writes("three"))
	if err := os.Remove(filepath.Join(broken.Dir, manifestName)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(bad.Dir, "word")
	if err := os.WriteFile(path, []byte("0ne"), 0o644); err != nil {
		t.Fatal(err)
	}
	from, err := Open(from.Dir()) // another process
	if err != nil {
		t.Fatal(err)
	}
	m := merge(t, to, from)
	if m.Added != 1 || len(m.Refused) != 2 {
		t.Fatalf("%+v", m)
	}
	said := errors.Join(m.Refused...)
	for _, word := range []string{path, broken.Dir} {
		if !errors.Is(said, ErrDamaged) || errors.Is(said, ErrConflict) || !strings.Contains(said.Error(), word) {
			t.Errorf("%v does not name %s", said, word)
		}
	}
	if _, ok, err := to.Lookup(testKey("bad")); ok || err != nil {
		t.Error("the damaged run was merged")
	}
	do(t, to, testKey("good"), never(t))
}

// Whichever store is merged into keeps what it has.
func TestTheSameKeyWithOtherBytesIsAConflictThatNamesBoth(t *testing.T) {
	for _, exchanged := range []bool{false, true} {
		to, from := open(t), open(t)
		words := []string{"one", "other"}
		if exchanged {
			to, from = from, to
			words = []string{"other", "one"}
		}
		in, out := do(t, from, testKey("x"), writes(words[1])), do(t, to, testKey("x"), writes(words[0]))
		do(t, from, testKey("y"), writeSmall)
		m := merge(t, to, from)
		if m.Added != 1 || m.Same != 0 || len(m.Refused) != 1 {
			t.Fatalf("%+v", m)
		}
		err := m.Refused[0]
		r := (*RefusedError)(nil)
		if !errors.As(err, &r) || r.Dir != in.Dir || !errors.Is(err, ErrConflict) || errors.Is(err, ErrDamaged) {
			t.Errorf("%v", err)
		}
		if said := err.Error(); !strings.Contains(said, in.Dir) || !strings.Contains(said, out.Dir) {
			t.Errorf("%q does not name both", said)
		}
		if b, err := do(t, to, testKey("x"), never(t)).Bytes("word"); err != nil || string(b) != words[0] {
			t.Errorf("%q, %v", b, err)
		}
	}
}

func TestAMergePutsAWholeRunInThePlaceOfADamagedOne(t *testing.T) {
	to, from := open(t), open(t)
	bad := do(t, to, testKey("x"), writes("one"))
	do(t, from, testKey("x"), writes("one"))
	if err := os.WriteFile(filepath.Join(bad.Dir, "word"), []byte("0ne"), 0o644); err != nil {
		t.Fatal(err)
	}
	to, err := Open(to.Dir())
	if err != nil {
		t.Fatal(err)
	}
	warned := ""
	to.OnWarning = func(text string) { warned = text }
	if m := merge(t, to, from); m.Added != 1 || !strings.Contains(warned, "set aside") {
		t.Errorf("%+v, %q", m, warned)
	}
	if b, err := do(t, to, testKey("x"), never(t)).Bytes("word"); err != nil || string(b) != "one" {
		t.Errorf("%q, %v", b, err)
	}
}

// leaveHalf leaves a checkpoint and half of a run.
func leaveHalf(t *testing.T, s *Store, k Key) {
	t.Helper()
	_, err := s.Do(t.Context(), k, func(_ context.Context, w *Work) error {
		return errors.Join(w.WriteFile("half", []byte("a half")), w.SaveCheckpoint(smallFile(5), 3), errors.New("killed"))
	})
	if err == nil {
		t.Fatal("not interrupted")
	}
}

func TestAMergedRunTakesThePlaceOfInterruptedWork(t *testing.T) {
	to, from := open(t), open(t)
	leaveHalf(t, to, testKey("x"))
	do(t, from, testKey("x"), writes("one"))
	leaveHalf(t, from, testKey("y")) // unfinished work is not merged
	if m := merge(t, to, from); m.Added != 1 || len(m.Refused) > 0 {
		t.Errorf("%+v", m)
	}
	sameContents(t, contents(t, filepath.Join(from.Dir(), runsDirName)), contents(t, filepath.Join(to.Dir(), runsDirName)))
	if left := mustList(t, filepath.Join(to.Dir(), workDirName)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestAStoppedMergeSaysSo(t *testing.T) {
	to, from := open(t), open(t)
	do(t, from, testKey("x"), writeSmall)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if m, err := to.Merge(ctx, from); !errors.Is(err, context.Canceled) || m.Added > 0 {
		t.Errorf("%+v, %v", m, err)
	}
}
