// Atomic writes of files and folders.

package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// TempPrefix is the prefix of the names of unfinished files. A killed program may leave
// them.
const TempPrefix = ".new-"

// WriteFile writes content to a file atomically.
func WriteFile(path string, content []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Write writes a file atomically: a reader of path, even after a power cut, sees the old
// content or the new, and a full disk or an error of write leaves the old one. A symbolic
// link is replaced, and its target stays. A pipe or a device, such as /dev/stdout, is
// written to directly; a pipe without a reader is an error, because opening it would block.
// The folder must exist. Errors name the path.
func Write(path string, write func(io.Writer) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}()
	switch info, err := os.Stat(path); {
	case err != nil || info.Mode().IsRegular():
		return replace(path, write)
	case info.IsDir():
		return WrongKind(path, "a file", info.Mode())
	}
	f, err := os.OpenFile(path, os.O_WRONLY|openNonblock, 0)
	if errors.Is(err, errNoReader) {
		return errors.New("a named pipe or a socket without a reader")
	}
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func replace(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder forces the names in a folder to the disk. Windows cannot and need not: its
// file system journals renames.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Writable returns the reason why no file can be written at path, so that a command can
// check before long work.
func Writable(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir():
		return WrongKind(path, "a file", info.Mode())
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+"*")
	if err != nil {
		return fmt.Errorf("nothing can be written into %s: %w", filepath.Dir(path), err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// WriteFolder makes a folder atomically: fill writes into a temporary folder, which then
// replaces path.
func WriteFolder(path string, fill func(dir string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), TempPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := fill(work); err != nil {
		return err
	}
	if err := errors.Join(os.Chmod(work, 0o755), os.RemoveAll(path)); err != nil {
		return err
	}
	return os.Rename(work, path)
}

// WriteTree writes files below a folder, each atomically. The keys are slash-separated
// paths, the values contents.
func WriteTree(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := WriteFile(path, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}
