// Tests of disk.go.

package disk

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

var errFull = errors.New("disk full")

type fullFS struct{ OS }

func (fullFS) Write(string, []byte) error { return errFull }

func TestFailedReplaceKeepsTheOldContentAndLeavesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := Replace(OS{}, path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	err := Replace(fullFS{}, path, []byte("new"))
	if !errors.Is(err, errFull) {
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
	if err := Replace(OS{}, filepath.Join(t.TempDir(), "no", "x"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestSyncReportsEveryFileThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	err := OS{}.Sync(a, dir, b)
	var list interface{ Unwrap() []error }
	if !errors.As(err, &list) || len(list.Unwrap()) != 2 {
		t.Errorf("found %v, expected two errors", err)
	}
}
