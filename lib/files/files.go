// Package files reads the files that a user names and writes those that a user gets.
//
// Nothing but regular files is opened: a pipe in the place of one would hang its
// reader, and a device may never end. What is read is bounded. What is written is
// seen whole or not at all.
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

// ErrKind is wrapped where something else lies in the place of a file or folder.
var ErrKind = errors.New("found something else")

// WrongKind says what lies at path in the place of what was expected.
func WrongKind(path, expected string, found fs.FileMode) error {
	return fmt.Errorf("%s: expected %s, %w: %s", path, expected, ErrKind, kindOfMode(found))
}

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

// Open opens a regular file, or what a link to one leads to, for reading. Errors
// name the path.
func Open(path string) (*os.File, error) { return open(path, os.Stat, os.O_RDONLY|openNonblock) }

// OpenNoFollow opens a regular file with the flags of os.OpenFile, and follows no link:
// it is for folders that only the program itself writes.
func OpenNoFollow(path string, flag int) (*os.File, error) {
	return open(path, os.Lstat, flag|openNonblock|openNoLink)
}

// open looks before it opens, for the message, and after, because somebody may
// have put another thing there in between.
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

// ErrTooLong is wrapped where a file is longer than it may be.
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

// ReadAll reads an open file of at most limit bytes, as long as it was when it was
// looked at.
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

// List lists what lies in a folder and whose name begins and ends so, as paths in the
// order of their names. A folder that is not there has nothing in it. Unlike with
// filepath.Glob nothing in the folder's own name is a pattern.
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

// SameFile reports whether two paths lead to one file.
func SameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
