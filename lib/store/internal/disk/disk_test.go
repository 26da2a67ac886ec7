package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestFailedReplaceKeepsTheOldContentAndLeavesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := Replace(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	err := ReplaceWith(func(string, []byte) error { return full }, path, []byte("new"))
	if !errors.Is(err, full) {
		t.Error(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "old" {
		t.Errorf("found %q, %v", b, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("found %v, %v", entries, err)
	}
}

func TestReplaceNeedsTheFolder(t *testing.T) {
	if err := Replace(filepath.Join(t.TempDir(), "no", "x"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestSyncReportsEveryFileThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	err := Sync(a, dir, b)
	var list interface{ Unwrap() []error }
	if !errors.As(err, &list) || len(list.Unwrap()) != 2 {
		t.Errorf("found %v, expected two errors", err)
	}
}
