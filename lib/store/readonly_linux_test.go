// Read-only stores can be read.

package store

import (
	"errors"
	"io"
	"io/fs"
	"maps"
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
		for _, dirName := range dirNames {
			paths = append(paths, dir+"/"+dirName)
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

func TestReadOnlyStoreIsReadListedAndVerified(t *testing.T) {
	made := open(t)
	run := do(t, made, Key{Recipe: "old"}, writeSmall)
	before := readTree(t, made.Dir())
	readOnly(t, made.Dir())
	asNobody(t, func() {
		s, err := Open(made.Dir())
		if err != nil {
			t.Error(err)
			return
		}
		s.fs = noWriting{t}
		if entries, err := s.List(); err != nil || len(entries) != 1 || entries[0].State != Finished {
			t.Errorf("found %v, %v", entries, err)
		}
		if err := s.Verify(run.ID); err != nil {
			t.Error(err)
		}
		if run, err := s.Do(t.Context(), Key{Recipe: "old"}, never(t)); err != nil {
			t.Error(err)
		} else {
			checkSmall(t, run)
		}
		if run, ok, err := s.Lookup(Key{Recipe: "old"}); err != nil || !ok {
			t.Errorf("found %v, %v", run, err)
		}
	})
	if after := readTree(t, made.Dir()); !maps.Equal(before, after) {
		t.Error("reading has changed the store")
	}
}

// noWriting fails the test on every call that would change the disk.
type noWriting struct{ t *testing.T }

func (d noWriting) refuse(what string) error {
	d.t.Errorf("%s although the store is only read", what)
	return fs.ErrPermission
}

func (d noWriting) Write(string, []byte) error            { return d.refuse("write") }
func (d noWriting) Append(string) (io.WriteCloser, error) { return nil, d.refuse("append") }
func (d noWriting) Mkdir(string) error                    { return d.refuse("mkdir") }
func (d noWriting) Rename(string, string) error           { return d.refuse("rename") }
func (d noWriting) Remove(string) error                   { return d.refuse("remove") }
func (d noWriting) RemoveAll(string) error                { return d.refuse("remove all") }
func (d noWriting) Truncate(string, int64) error          { return d.refuse("truncate") }
func (d noWriting) Sync(...string) error                  { return d.refuse("sync") }

func TestNoStoreIsMadeWhereNothingCanBeWritten(t *testing.T) {
	s := open(t)
	readOnly(t, s.Dir())
	asNobody(t, func() {
		_, err := Open(s.Dir() + "/deeper")
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
