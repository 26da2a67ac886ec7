// Tests of files.go.

package files

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestOnlyRegularFilesAreReadAndNoMoreThanTheLimit(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "x"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, []byte("four"), 0o644), os.Symlink(path, link)); err != nil {
		t.Skip(err) // a system without links
	}
	for _, p := range []string{path, link} {
		if b, err := Read(p, 4); err != nil || string(b) != "four" {
			t.Errorf("%s: %q, %v", p, b, err)
		}
	}
	if _, err := Read(path, 3); !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), path) {
		t.Errorf("longer than its limit: %v", err)
	}
	if _, err := OpenNoFollow(link, os.O_RDONLY); !errors.Is(err, ErrKind) {
		t.Errorf("a link where none may be: %v", err)
	}
	for _, p := range []string{dir, os.DevNull} {
		if _, err := Read(p, 4); !errors.Is(err, ErrKind) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if _, err := Read(filepath.Join(dir, "absent"), 4); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestAFoldersNameIsNoPattern(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b]*")
	if err := WriteTree(dir, map[string]string{"x.npy": "", "y.npy": "", "x.txt": "", "npy": ""}); err != nil {
		t.Fatal(err)
	}
	found, err := List(dir, "", ".npy")
	if want := []string{filepath.Join(dir, "x.npy"), filepath.Join(dir, "y.npy")}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found %q, %v", found, err)
	}
	if found, err = List(dir, "x", ""); err != nil || len(found) != 2 {
		t.Errorf("found %q, %v", found, err)
	}
	if found, err = List(filepath.Join(dir, "absent"), "", ""); err != nil || found != nil {
		t.Errorf("found %q, %v", found, err)
	}
}

func TestSameFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	a, b, link := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "link")
	if err := errors.Join(WriteFile(a, nil), WriteFile(b, nil), os.Symlink(a, link)); err != nil {
		t.Skip(err)
	}
	if !SameFile(a, link) || SameFile(a, b) || SameFile(a, filepath.Join(dir, "absent")) {
		t.Error("a file is not told from another")
	}
}
