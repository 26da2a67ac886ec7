package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// fullDisk is a disk that takes a number of files and part of the next.
func fullDisk(files int) func(string, []byte) error {
	return func(path string, b []byte) error {
		if files--; files >= 0 {
			return disk.Write(path, b)
		}
		if err := os.WriteFile(path, b[:len(b)/2], 0o644); err != nil {
			return err
		}
		return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
	}
}

// TestFullDiskLosesNothingAndSaysSo fills the disk at every file that a run
// writes, its checkpoints and manifest included.
func TestFullDiskLosesNothingAndSaysSo(t *testing.T) {
	want := open(t)
	do(t, want, Key{Recipe: "before"}, writeSmall)
	checkCounted(t, do(t, want, countedKey, counted(-1)))
	failures := 0
	for room := 0; ; room++ {
		s := open(t)
		do(t, s, Key{Recipe: "before"}, writeSmall)
		s.write = fullDisk(room)
		_, err := s.Do(t.Context(), countedKey, counted(-1))
		if err == nil {
			break
		}
		failures++
		if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), s.Dir()) {
			t.Errorf("room for %d files: %v", room, err)
		}
		if _, ok, err := s.Lookup(countedKey); ok || err != nil {
			t.Errorf("room for %d files: half a run is visible: %v, %v", room, ok, err)
		}
		s.write = disk.Write
		do(t, s, Key{Recipe: "before"}, never(t))
		checkCounted(t, do(t, s, countedKey, counted(-1)))
		compareTrees(t, want.Dir(), s.Dir())
	}
	if failures != 6 { // key, three checkpoints, weights, manifest
		t.Errorf("the disk was full %d times, expected 6", failures)
	}
}

func TestLineThatDoesNotFitTheDiskFailsTheRun(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skip("no " + full + " here")
	}
	s := open(t)
	_, err := s.Do(t.Context(), Key{Recipe: "x"}, func(_ context.Context, w *Work) error {
		if err := os.Symlink(full, filepath.Join(w.Dir(), "log.jsonl")); err != nil {
			return err
		}
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
