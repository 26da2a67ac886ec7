// Fallback stores: other stores from which finished runs and checkpoints are read.

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// OpenWithoutLocks opens a store that no other process writes. It takes no file locks,
// which some network file systems keep per node or not at all.
func OpenWithoutLocks(dir string) (*Store, error) {
	s, err := Open(dir)
	if err == nil {
		s.withoutLocks = true
	}
	return s, err
}

// AddFallbacks adds stores that are read, in this order, where s has no run: Do and Lookup
// return finished runs from them, and Do resumes from their checkpoints. Their files are
// hashed before use and never changed, damaged runs count as missing, and List shows the
// runs of s only. Do not call it while s is in use.
func (s *Store) AddFallbacks(others ...*Store) { s.fallbacks = append(s.fallbacks, others...) }

// loadFallback returns an undamaged run from the first fallback that has it, or nil.
func (s *Store) loadFallback(id string) *Run {
	for _, o := range s.fallbacks {
		run, err := o.load(id)
		switch {
		case err == nil:
			return run
		case !errors.Is(err, errMissing):
			s.warn("%v; that run is not used", err)
		}
	}
	return nil
}

// copyInterrupted copies the interrupted computation of the first fallback that has a
// checkpoint of it. newWork checks the hashes of the copy. Where that computation still
// runs and changes its files during the copy, the next fallback is tried; without any, the
// work begins anew.
func (s *Store) copyInterrupted(id string) error {
	for _, o := range s.fallbacks {
		left, err := os.ReadDir(filepath.Join(o.workDir(id), checkpointDirName))
		if err != nil || len(left) == 0 {
			continue
		}
		err = s.copyFiles(s.workDir(id), o.workDir(id))
		if err == nil {
			return nil
		}
		s.warn("store: the interrupted run %s cannot be copied: %v", shortID(id), err)
		if err := s.fs.RemoveAll(s.workDir(id)); err != nil {
			return err
		}
	}
	return nil
}

// copyFiles copies the regular files below a folder.
func (s *Store) copyFiles(to, from string) error {
	return walkNames(from, func(name string, mode fs.FileMode) error {
		source := filepath.Join(from, filepath.FromSlash(name))
		if !mode.IsRegular() {
			return files.WrongKind(source, "a regular file", mode)
		}
		info, err := os.Lstat(source)
		if err != nil {
			return err
		}
		b, err := disk.ReadFile(source, info.Size())
		if err != nil {
			return err
		}
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := disk.MkdirAll(s.fs, filepath.Dir(path)); err != nil {
			return err
		}
		return s.fs.Write(path, b)
	})
}

// Has reports whether s or a fallback has a finished run of that ID, and its folder. It
// hashes nothing: the run may still be damaged.
func (s *Store) Has(id string) (dir string, ok bool) {
	if !isID(id) {
		return "", false
	}
	for _, o := range append([]*Store{s}, s.fallbacks...) {
		if info, err := os.Lstat(filepath.Join(o.runDir(id), manifestName)); err == nil && info.Mode().IsRegular() {
			return o.runDir(id), true
		}
	}
	return "", false
}
