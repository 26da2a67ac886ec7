// Package onestep writes files so that nobody sees half of one.
package onestep

import (
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
