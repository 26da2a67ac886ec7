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

// TempPrefix begins the names of what is not finished; who is killed leaves it.
const TempPrefix = ".new-"

// WriteFile writes a file with this content in one step.
func WriteFile(path string, content []byte) error {
	return Write(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Write writes a file in one step: a reader of path, even one after a power cut,
// sees the old content or the new, and a full disk or an error of write leaves the
// old. A link is replaced, what it leads to stays. A pipe or a device, such as
// /dev/stdout, is written to as it comes, and a pipe that nobody reads is an error: it
// would be waited for without end. The folder must be there. Errors name the
// path.
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
		return errors.New("a named pipe or a socket that nobody reads")
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

// syncFolder forces the names in a folder to the disk. Windows cannot, and does not
// need to: its renames are journalled.
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

// Writable reports why no file can be written at path, before it took hours to make
// what goes into it.
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

// WriteFolder makes a folder in one step: what fill puts into another one takes its place.
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

// WriteTree writes files by their names below a folder, each in one step.
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
