// Package onestep writes files and folders so that nobody sees half of one.
package onestep

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Prefix begins the names of what is not finished; who is killed leaves it.
const Prefix = ".new-"

// File writes a file with this content in one step.
func File(path string, content []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Write writes a file in one step: a reader of path sees the old content or the
// new, and a full disk or an error of write leaves the old. The folder must be
// there. Errors name the path.
func Write(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), Prefix+"*")
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
			err = fmt.Errorf("%s cannot be written: %w", path, err)
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Folder makes a folder in one step: what fill puts into another one takes its place.
func Folder(path string, fill func(dir string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(filepath.Dir(path), Prefix)
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

// Files writes files by their names below a folder, each in one step.
func Files(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := File(path, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}
