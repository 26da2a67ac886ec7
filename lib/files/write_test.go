// Tests of write.go.

package files

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

func TestAFolderIsTheOldOneUntilTheNewOneIsWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b")
	fill := func(content string, err error) func(string) error {
		return func(work string) error {
			return errors.Join(WriteTree(work, map[string]string{"deep/x.txt": content, content: ""}), err)
		}
	}
	if err := WriteFolder(path, fill("old", nil)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("no more")
	if err := WriteFolder(path, fill("half", broken)); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(path, "deep", "x.txt")); err != nil || string(b) != "old" {
		t.Errorf("after a failure %q, %v", b, err)
	}
	if err := WriteFolder(path, fill("new", nil)); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "a", "*", "*"))
	if err != nil || len(names) != 2 || filepath.Base(names[1]) != "new" {
		t.Errorf("there is %q, %v", names, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left %v, %v", left, err)
	}
}

func TestALinkIsReplacedAndWhatItLeadsToStays(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "x"), filepath.Join(dir, "link")
	if err := errors.Join(WriteFile(path, []byte("kept")), os.Symlink(path, link)); err != nil {
		t.Skip(err)
	}
	if err := WriteFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	kept, _ := os.ReadFile(path)
	if b, err := os.ReadFile(link); err != nil || string(b) != "new" || string(kept) != "kept" {
		t.Errorf("%q through the link and %q behind it, %v", b, kept, err)
	}
}

func TestADeviceIsWrittenToAndStaysOne(t *testing.T) {
	if err := WriteFile(os.DevNull, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v is there now, %v", info, err)
	}
}

func TestWritableSaysBeforehandWhatWriteWould(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]error{
		filepath.Join(dir, "x"): nil, os.DevNull: nil, dir: ErrKind, filepath.Join(dir, "absent", "x"): os.ErrNotExist,
	} {
		if err := Writable(path); !errors.Is(err, want) {
			t.Errorf("%s: %v", path, err)
		}
		if err := WriteFile(path, nil); !errors.Is(err, want) {
			t.Errorf("written to %s: %v", path, err)
		}
		os.Remove(filepath.Join(dir, "x"))
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
