// Files of the wrong kind in a store, such as a link in place of a folder.

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// unexpectedFileError names a file in the store where a folder should be.
type unexpectedFileError struct {
	path string
	err  error
}

func (e *unexpectedFileError) Error() string { return e.err.Error() }
func (e *unexpectedFileError) Unwrap() error { return e.err }

// checkFolders returns an error for the first name between the store's folder and path that
// exists and is no folder. A symbolic link would lead outside the store, where nothing may
// be read as a run or removed.
func (s *Store) checkFolders(path string) error {
	rel, err := filepath.Rel(s.dir, path)
	if err != nil {
		return err
	}
	at := s.dir
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, name)
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return &unexpectedFileError{at, files.WrongKind(at, "a folder", info.Mode())}
		}
	}
	return nil
}

// runManifest reads the manifest of a finished run. A file in place of the run's folder is
// damage of the run; one in place of the store's own folders is an error.
func (s *Store) runManifest(id string) (manifest, error) {
	err := s.checkFolders(s.runDir(id))
	if unexpected := (*unexpectedFileError)(nil); errors.As(err, &unexpected) && filepath.Dir(unexpected.path) != s.dir {
		return manifest{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err != nil {
		return manifest{}, fmt.Errorf("store: %w", err)
	}
	return readManifest(s.runDir(id), id)
}

// quarantineUnexpected moves a file that takes the place of a folder into quarantine/.
func (s *Store) quarantineUnexpected(dir, id string) error {
	err := s.checkFolders(dir)
	unexpected := (*unexpectedFileError)(nil)
	if !errors.As(err, &unexpected) || filepath.Dir(unexpected.path) == s.dir {
		return err
	}
	return s.quarantineAndWarn(unexpected.path, id, err)
}

// quarantineUnexpectedFile does the same for anything that takes the place of a regular
// file.
func (s *Store) quarantineUnexpectedFile(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && info.Mode().IsRegular()) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.quarantineAndWarn(path, filepath.Base(path), files.WrongKind(path, "a regular file", info.Mode()))
}

func (s *Store) quarantineAndWarn(path, name string, reason error) error {
	to, err := s.quarantine(path, name)
	if err != nil {
		return fmt.Errorf("%w; it cannot be set aside: %w", reason, err)
	}
	s.warn("store: %v; set aside as %s", reason, to)
	return nil
}
