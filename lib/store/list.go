// Listing, verifying and pruning the entries of a store.

package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/store/internal/disk"
)

// State is the state of an Entry.
type State string

// The states of an entry. List hashes no files: a Finished entry may still fail Verify.
const (
	Finished    State = "finished"
	Unfinished  State = "unfinished" // runs now, or was interrupted
	Damaged     State = "damaged"    // its manifest is damaged, or it is no folder
	Quarantined State = "set aside"  // in quarantine/
)

// Entry is one thing that takes space in the store.
type Entry struct {
	ID      string // the run's ID; for Quarantined the name in quarantine/
	State   State
	Key     Key // zero if it is not known
	Dir     string
	Files   int
	Bytes   int64
	Created time.Time // when a run was finished; otherwise its folder's last change
	Problem string    // why a Damaged entry is damaged
}

// List returns everything in the store, sorted by state, recipe and ID.
func (s *Store) List() ([]Entry, error) {
	var all []Entry
	for dirName, describe := range map[string]describer{runsDirName: shardEntries, workDirName: workEntry, quarantineDirName: quarantineEntry} {
		found, err := listEntries(filepath.Join(s.dir, dirName), describe)
		if err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
		all = append(all, found...)
	}
	for i := range all {
		if err := all[i].measure(); err != nil {
			return nil, fmt.Errorf("store: %w", err)
		}
	}
	slices.SortFunc(all, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(a.State, b.State), cmp.Compare(a.Key.Recipe, b.Key.Recipe), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// describer returns the entries at a path of the store.
type describer func(path string, d fs.DirEntry) ([]Entry, error)

// listEntries describes the children of a folder; a missing folder is empty. Hidden names
// belong to other programs.
func listEntries(dir string, describe describer) (all []Entry, err error) {
	children, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, child := range children {
		if strings.HasPrefix(child.Name(), ".") {
			continue
		}
		found, err := describe(filepath.Join(dir, child.Name()), child)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// unexpectedEntry describes a file where a folder should be.
func unexpectedEntry(path string, d fs.DirEntry) []Entry {
	return []Entry{{ID: d.Name(), State: Damaged, Dir: path, Problem: files.WrongKind(path, "a folder", d.Type()).Error()}}
}

func shardEntries(path string, d fs.DirEntry) ([]Entry, error) {
	if !d.IsDir() {
		return unexpectedEntry(path, d), nil
	}
	return listEntries(path, runEntry)
}

func runEntry(dir string, d fs.DirEntry) ([]Entry, error) {
	if !d.IsDir() {
		return unexpectedEntry(dir, d), nil
	}
	e := Entry{ID: d.Name(), State: Finished, Dir: dir}
	m, err := readManifest(dir, e.ID)
	if err == nil {
		e.Key, err = decodeKey(m.Key)
	}
	if err != nil {
		e.State, e.Problem = Damaged, err.Error()
		return []Entry{e}, nil
	}
	if info, err := os.Lstat(filepath.Join(dir, manifestName)); err == nil {
		e.Created = info.ModTime()
	}
	return []Entry{e}, nil
}

func workEntry(dir string, d fs.DirEntry) ([]Entry, error) {
	if !d.IsDir() {
		return unexpectedEntry(dir, d), nil
	}
	e := Entry{ID: d.Name(), State: Unfinished, Dir: dir}
	if b, err := disk.ReadFile(filepath.Join(dir, "key.json"), maxTextBytes); err == nil {
		if key, err := decodeKey(b); err == nil {
			e.Key = key
		}
	}
	return []Entry{e}, nil
}

func quarantineEntry(dir string, d fs.DirEntry) ([]Entry, error) {
	return []Entry{{ID: d.Name(), State: Quarantined, Dir: dir}}, nil
}

// measure counts files and bytes, except what another process removes meanwhile.
func (e *Entry) measure() error {
	return filepath.WalkDir(e.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			if info, err = d.Info(); err == nil {
				e.count(info)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
}

func (e *Entry) count(info fs.FileInfo) {
	if e.Created.IsZero() {
		e.Created = info.ModTime()
	}
	if !info.IsDir() {
		e.Files++
		e.Bytes += info.Size()
	}
}

// Size returns the bytes of everything in the store.
func (s *Store) Size() (int64, error) {
	entries, err := s.List()
	var total int64
	for _, e := range entries {
		total += e.Bytes
	}
	return total, err
}

// Verify hashes every file of a finished run and returns the first damage. It changes
// nothing.
func (s *Store) Verify(id string) error {
	if !isID(id) {
		return fmt.Errorf("store: %q is no run ID: expected 64 hexadecimal digits in lower case", id)
	}
	m, err := s.runManifest(id)
	if errors.Is(err, errMissing) {
		return fmt.Errorf("store: no finished run %s", id)
	}
	if err == nil {
		err = m.checkContent(s.runDir(id))
	}
	return err
}

// Prune deletes the entries for which drop returns true, except those being computed, and
// returns them.
func (s *Store) Prune(drop func(Entry) bool) ([]Entry, error) {
	entries, err := s.List()
	if err != nil {
		return nil, err
	}
	var dropped []Entry
	for _, e := range entries {
		if !drop(e) {
			continue
		}
		done, err := s.remove(e)
		if err != nil {
			return dropped, fmt.Errorf("store: remove %s: %w", e.Dir, err)
		}
		if done {
			dropped = append(dropped, e)
		}
	}
	return dropped, nil
}

// remove deletes one entry, unless its lock is held.
func (s *Store) remove(e Entry) (bool, error) {
	if e.State == Quarantined || !isID(e.ID) {
		return true, s.fs.RemoveAll(e.Dir)
	}
	if err := s.makeDirs(); err != nil {
		return false, err
	}
	release, err := s.tryLock(e.ID)
	if errors.Is(err, errBusy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer release()
	s.verified.Delete(e.ID)
	if e.State == Unfinished {
		return true, s.fs.RemoveAll(e.Dir)
	}
	// Move it first: a kill must not leave half a run among the finished ones.
	trash, err := s.quarantine(e.Dir, e.ID)
	if err != nil {
		return false, err
	}
	return true, s.fs.RemoveAll(trash)
}
