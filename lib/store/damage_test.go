// Damaged runs are found and computed again.

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/lib/store/safetensors"
)

// severalKiB writes a run whose files are a few KiB long.
func severalKiB(_ context.Context, w *Work) error {
	values := make([]float32, 1200)
	for i := range values {
		values[i] = float32(i)
	}
	if err := w.WriteTensors("weights.safetensors", &safetensors.File{
		Tensors: []safetensors.Tensor{safetensors.FromFloat32("w", []int{1200}, values)},
	}); err != nil {
		return err
	}
	for i := range 300 {
		if err := w.AppendLine("log.jsonl", map[string]int{"epoch": i}); err != nil {
			return err
		}
	}
	return w.WriteJSON("metrics.json", map[string]float64{"auc": 0.5})
}

// eachFile calls visit for every file of a run with its content, and puts the
// content back.
func eachFile(t *testing.T, run *Run, visit func(name, path string, b []byte)) {
	t.Helper()
	for name, content := range readTree(t, run.Dir) {
		path := filepath.Join(run.Dir, name)
		visit(name, path, []byte(content))
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.store.Verify(run.ID); err != nil {
		t.Fatalf("put back: %v", err)
	}
}

// refused fails unless a store that has not seen the run before, and a reader
// that has, both refuse it and name the file.
func refused(t *testing.T, run *Run, name, path, what string) {
	t.Helper()
	errs := []error{run.store.Verify(run.ID)}
	run.store.verified.Delete(run.ID)
	_, ok, err := run.store.Lookup(run.Key)
	errs = append(errs, err)
	if ok {
		t.Errorf("%s, %s: found by Lookup", name, what)
	}
	if name != manifestName {
		_, err := run.Bytes(name)
		_, err2 := run.Path(name)
		errs = append(errs, err, err2)
	}
	for _, err := range errs {
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
			t.Fatalf("%s, %s: found %v, expected damage of %s", name, what, err, path)
		}
	}
}

func TestEveryTruncationIsRefusedByFileName(t *testing.T) {
	run := do(t, open(t), Key{Recipe: "x"}, severalKiB)
	cases := 0
	eachFile(t, run, func(name, path string, b []byte) {
		for n := len(b) - 1; n >= 0; n-- {
			if n > 64 && n%1024 != 0 && n != len(b)-1 {
				continue
			}
			cases++
			if err := os.Truncate(path, int64(n)); err != nil {
				t.Fatal(err)
			}
			refused(t, run, name, path, "truncated")
		}
	})
	if cases < 3*64 { // three of the four files are longer than 64 bytes
		t.Errorf("only %d truncations were tried", cases)
	}
}

func TestEveryFlippedByteIsRefusedByFileName(t *testing.T) {
	run := do(t, open(t), Key{Recipe: "x"}, severalKiB)
	eachFile(t, run, func(name, path string, b []byte) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}()
		for i := range b {
			bit := byte(1) << (i % 8)
			if _, err := f.WriteAt([]byte{b[i] ^ bit}, int64(i)); err != nil {
				t.Fatal(err)
			}
			if i%32 == 0 {
				refused(t, run, name, path, "flipped")
			} else if err := run.store.Verify(run.ID); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Fatalf("%s, byte %d flipped: found %v", name, i, err)
			}
			if _, err := f.WriteAt(b[i:i+1], int64(i)); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestMissingAndAdditionalFilesAreRefused(t *testing.T) {
	run := do(t, open(t), Key{Recipe: "x"}, severalKiB)
	eachFile(t, run, func(name, path string, b []byte) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		refused(t, run, name, path, "removed")
	})
	extra := filepath.Join(run.Dir, "extra")
	if err := os.WriteFile(extra, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run.store.Verify(run.ID); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), extra) {
		t.Error(err)
	}
}

func TestRunUnderTheNameOfAnotherIsRefused(t *testing.T) {
	s := open(t)
	a, b := do(t, s, Key{Recipe: "a"}, writeSmall), do(t, s, Key{Recipe: "b"}, writeSmall)
	if err := errors.Join(os.RemoveAll(b.Dir), os.Rename(a.Dir, b.Dir)); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(b.ID); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

func TestDamagedRunIsSetAsideNamedAndComputedAnew(t *testing.T) {
	s := open(t)
	key := Key{Recipe: "x"}
	run := do(t, s, key, severalKiB)
	path := filepath.Join(run.Dir, "metrics.json")
	for round := 1; round <= 2; round++ {
		if err := flipFirst(path); err != nil {
			t.Fatal(err)
		}
		if _, err := run.Bytes("metrics.json"); !errors.Is(err, ErrDamaged) {
			t.Error(err)
		}
		var warnings []string
		s.OnWarning = func(text string) { warnings = append(warnings, text) }
		again := do(t, s, key, severalKiB)
		if _, err := again.Bytes("metrics.json"); err != nil {
			t.Error(err)
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], path) || !strings.Contains(warnings[0], quarantineDirName) {
			t.Errorf("warnings: %q", warnings)
		}
		kept := mustList(t, filepath.Join(s.Dir(), quarantineDirName))
		if len(kept) != round {
			t.Errorf("set aside: %v, expected %d", kept, round)
		}
		found := readTree(t, filepath.Join(s.Dir(), quarantineDirName, kept[round-1]))
		if len(found) != 4 {
			t.Errorf("the run that was set aside has %d files, expected all 4", len(found))
		}
	}
}
