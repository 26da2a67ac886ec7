// Package files reads and writes files safely.
//
// It opens regular files only: a pipe would hang its reader, and a device may never
// end. Reads are bounded. Writes are atomic: a reader sees the old file or the new one.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrKind is wrapped by errors about a path that holds something else than a file or a
// folder, as expected.
var ErrKind = errors.New("found something else")

// WrongKind returns the error for a path that holds another kind of file than expected.
func WrongKind(path, expected string, found fs.FileMode) error {
	return fmt.Errorf("%s: expected %s, %w: %s", path, expected, ErrKind, kindOfMode(found))
}

// kindOfMode names a kind of file for an error message.
func kindOfMode(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeDevice != 0:
		return "a device"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return mode.String()
}

// Open opens a regular file for reading, also through a symbolic link. Errors name the
// path.
func Open(path string) (*os.File, error) { return open(path, os.Stat, os.O_RDONLY|openNonblock) }

// OpenNoFollow opens a regular file with the flags of os.OpenFile and follows no symbolic
// link. Use it for folders that only the program itself writes.
func OpenNoFollow(path string, flag int) (*os.File, error) {
	return open(path, os.Lstat, flag|openNonblock|openNoLink)
}

// open checks the kind of the file before it opens it, for a clear message, and again
// afterwards, because the path may have changed in between.
func open(path string, look func(string) (fs.FileInfo, error), flag int) (*os.File, error) {
	info, err := look(path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, WrongKind(path, "a regular file", info.Mode())
	}
	if err != nil && (flag&os.O_CREATE == 0 || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f, err := os.OpenFile(path, flag, 0o644)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = WrongKind(path, "a regular file", info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ErrTooLong is wrapped by errors about a file that exceeds its limit.
var ErrTooLong = errors.New("too long")

// Read reads a regular file of at most limit bytes. Errors name the path.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	b, err := ReadAll(f, limit)
	return b, errors.Join(err, f.Close())
}

// ReadAll reads an open file of at most limit bytes. Its size is taken when the reading
// begins.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %w: %d bytes, at most %d are expected", f.Name(), ErrTooLong, info.Size(), limit)
	}
	b := make([]byte, info.Size())
	if _, err := io.ReadFull(f, b); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return b, nil
}

// List returns the paths of the entries of a folder whose names have this prefix and
// suffix, sorted by name. A missing folder is empty. Unlike filepath.Glob it takes nothing
// in the folder's name as a pattern.
func List(folder, prefix, suffix string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if name := e.Name(); len(name) >= len(prefix)+len(suffix) && strings.HasPrefix(name, prefix) && strings.HasSuffix(name, suffix) {
			found = append(found, filepath.Join(folder, name))
		}
	}
	return found, nil
}

// SameFile reports whether two paths lead to the same file. It is false if one does not
// exist.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
