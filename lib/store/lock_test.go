// Tests of lock.go.

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gofrs/flock"
)

func TestLockOfAFileThatWasRemovedDoesNotCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	file := flock.New(path)
	if got, err := file.TryLock(); !got || err != nil {
		t.Fatal(got, err)
	}
	if ok, err := isCurrent(file, path); !ok || err != nil {
		t.Errorf("fresh lock: %v, %v", ok, err)
	}
	if err := os.Remove(path); err != nil {
		t.Skip("an open file cannot be removed here")
	}
	if ok, err := isCurrent(file, path); ok || err != nil {
		t.Errorf("removed: %v, %v", ok, err)
	}
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if ok, err := isCurrent(file, path); ok || err != nil {
		t.Errorf("replaced: %v, %v", ok, err)
	}
	if err := file.Unlock(); err != nil {
		t.Error(err)
	}
}

// TestNeverTwoComputeTheSameRun lets many stores on one folder fail over and
// over, so that the lock file is removed and made again all the time.
func TestNeverTwoComputeTheSameRun(t *testing.T) {
	dir := t.TempDir()
	var inside, calls atomic.Int32
	var all sync.WaitGroup
	for range 6 {
		s, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 40 {
				_, err := s.Do(t.Context(), Key{Recipe: "x"}, func(context.Context, *Work) error {
					if inside.Add(1) != 1 {
						t.Error("two compute the run at the same time")
					}
					calls.Add(1)
					inside.Add(-1)
					return errStop
				})
				if !errors.Is(err, errStop) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if calls.Load() != 240 {
		t.Errorf("%d calls, expected 240", calls.Load())
	}
}
