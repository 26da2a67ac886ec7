// Full disks and failing writes.

package store

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// fullDisk is a disk that takes a number of files and part of the next.
type fullDisk struct {
	disk.OS
	files int
}

func (d *fullDisk) Write(path string, b []byte) error {
	if d.files--; d.files >= 0 {
		return d.OS.Write(path, b)
	}
	if err := os.WriteFile(path, b[:len(b)/2], 0o644); err != nil {
		return err
	}
	return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
}

// fullLogs is a disk whose open files take nothing more.
type fullLogs struct{ disk.OS }

func (d fullLogs) Append(path string) (io.WriteCloser, error) {
	f, err := d.OS.Append(path)
	return fullFile{f, path}, err
}

type fullFile struct {
	io.WriteCloser
	path string
}

func (f fullFile) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: f.path, Err: syscall.ENOSPC}
}

// TestFullDiskLosesNothingAndSaysSo fills the disk at every file that a run
// writes, its checkpoints and manifest included.
func TestFullDiskLosesNothingAndSaysSo(t *testing.T) {
	want := open(t)
	do(t, want, Key{Recipe: "before"}, writeSmall)
	checkCounted(t, do(t, want, countedKey, counted(-1)))
	failures := 0
	for dirName := 0; ; dirName++ {
		s := open(t)
		do(t, s, Key{Recipe: "before"}, writeSmall)
		s.fs = &fullDisk{files: dirName}
		_, err := s.Do(t.Context(), countedKey, counted(-1))
		if err == nil {
			break
		}
		failures++
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), s.Dir()) {
			t.Errorf("room for %d files: %v", dirName, err)
		}
		if _, ok, err := s.Lookup(countedKey); ok || err != nil {
			t.Errorf("room for %d files: half a run is visible: %v, %v", dirName, ok, err)
		}
		s.fs = disk.OS{}
		do(t, s, Key{Recipe: "before"}, never(t))
		checkCounted(t, do(t, s, countedKey, counted(-1)))
		compareTrees(t, want.Dir(), s.Dir())
	}
	if failures != 6 { // key, three checkpoints, weights, manifest
		t.Errorf("the disk was full %d times, expected 6", failures)
	}
}

func TestLineThatDoesNotFitTheDiskFailsTheRun(t *testing.T) {
	s := open(t)
	s.fs = fullLogs{}
	_, err := s.Do(t.Context(), Key{Recipe: "x"}, func(_ context.Context, w *Work) error {
		if err := w.AppendLine("log.jsonl", 1); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "log.jsonl") {
			t.Errorf("found %v", err)
		}
		return os.Remove(filepath.Join(w.Dir(), "log.jsonl")) // as if it had not mattered
	})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a run with a lost line is finished: %v", err)
	}
}

func TestOutputOtherThanFilesIsRefused(t *testing.T) {
	s := open(t)
	_, err := s.Do(t.Context(), Key{Recipe: "x"}, func(_ context.Context, w *Work) error {
		return os.Symlink("/dev/null", filepath.Join(w.Dir(), "link"))
	})
	if err == nil || !strings.Contains(err.Error(), "expected a regular file") {
		t.Error(err)
	}
}
