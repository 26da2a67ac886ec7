package onestep

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func TestAReaderSeesTheOldFileUntilTheNewOneIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.txt")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(w io.Writer) error {
		if err := text("new")(w); err != nil {
			return err
		}
		if b, err := os.ReadFile(path); string(b) != "old" || err != nil {
			t.Errorf("half way %q, %v", b, err)
		}
		return nil
	})
	if b, _ := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("%q, %v", b, err)
	}
}

func TestAFailureLeavesTheOldFileAndNothingElse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.txt")
	if err := Write(path, text("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	err := Write(path, func(w io.Writer) error { return errors.Join(text("ne")(w), full) })
	if !errors.Is(err, full) || !strings.Contains(err.Error(), path+" cannot be written") {
		t.Errorf("error %v", err)
	}
	entries, _ := os.ReadDir(dir)
	if b, _ := os.ReadFile(path); string(b) != "old" || len(entries) != 1 {
		t.Errorf("%q and %d files are left", b, len(entries))
	}
	missing := filepath.Join(dir, "absent", "x.txt")
	if err := Write(missing, text("x")); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("no folder: %v", err)
	}
}
