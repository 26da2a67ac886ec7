package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// OpenWithoutLocks opens a store that no other process writes: it takes no file locks,
// which network file systems keep per node, or not at all.
func OpenWithoutLocks(dir string) (*Store, error) {
	s, err := Open(dir)
	if err == nil {
		s.withoutLocks = true
	}
	return s, err
}

// AddFallbacks puts other stores behind s, in the order in which they are asked: Do
// and Lookup return a finished run from there where s has none, and an interrupted
// computation goes on from a checkpoint that lies there. What is damaged there
// counts as missing. Nothing is written to them, nothing of theirs is believed
// unhashed, and s lists its own runs only. Nobody may use s meanwhile.
func (s *Store) AddFallbacks(others ...*Store) { s.fallbacks = append(s.fallbacks, others...) }

// loadFallback returns a run out of the first store behind s that has it whole.
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

// copyInterrupted copies the interrupted computation of the first store behind s that has
// a checkpoint of it. newWork believes of the copy what matches its hashes. The
// other computation may still run and change under the copying hand: then the next
// store is asked, and without any the work begins anew.
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
		s.warn("store: the interrupted run %s cannot be taken over: %v", shortID(id), err)
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

// Has reports whether a finished run of that ID is in s or behind it, and where. It
// hashes nothing: a run whose manifest is there may still be damaged.
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
