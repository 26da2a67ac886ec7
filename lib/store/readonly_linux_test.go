package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// asNobody runs f, on a thread of its own, without root's right to write
// everywhere.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if os.Getuid() == 0 {
			if err := syscall.Setfsuid(65534); err != nil {
				t.Error(err)
				return
			}
		}
		f()
	}()
	<-done
}

// readOnly takes away the right to write from all folders of a store.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	chmod := func(mode fs.FileMode) error {
		paths := []string{dir}
		for _, room := range []string{runsRoom, workRoom, locksRoom, quarantineRoom} {
			paths = append(paths, dir+"/"+room)
		}
		var errs []error
		for _, path := range paths {
			errs = append(errs, os.Chmod(path, mode))
		}
		return errors.Join(errs...)
	}
	// The test's own folder is closed to others.
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), chmod(0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := chmod(0o755); err != nil {
			t.Error(err)
		}
	})
}

func TestReadOnlyStoreIsRefusedByNameWhenOpened(t *testing.T) {
	s := open(t)
	readOnly(t, s.Dir())
	asNobody(t, func() {
		_, err := Open(s.Dir())
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), s.Dir()+" cannot be written") {
			t.Error(err)
		}
		_, err = Open(s.Dir() + "/deeper")
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), s.Dir()) {
			t.Error(err)
		}
	})
}

func TestStoreThatBecomesReadOnlyLosesNothing(t *testing.T) {
	s := open(t)
	do(t, s, Key{Recipe: "old"}, writeSmall)
	readOnly(t, s.Dir())
	asNobody(t, func() {
		if run, err := s.Do(t.Context(), Key{Recipe: "old"}, never(t)); err != nil {
			t.Error(err)
		} else {
			checkSmall(t, run)
		}
		_, err := s.Do(t.Context(), Key{Recipe: "new"}, never(t))
		if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), s.Dir()) {
			t.Error(err)
		}
	})
}
