// Package disk holds the disk operations of the store. It writes files atomically, so
// that a crash leaves the old content or the new one, and opens regular files only: a
// pipe would hang its reader, and a device never ends.
package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/lethe-ml/lethe/lib/files"
)

// FS is every operation that changes a disk. The store writes through one, so that tests
// can fill the disk or cut the power and lose what was not synced.
type FS interface {
	// Write makes or replaces a file. It neither syncs nor renames; after an
	// error nothing is left at path.
	Write(path string, b []byte) error
	// Append opens a file for more at its end, and makes it where it is missing.
	Append(path string) (io.WriteCloser, error)
	// Mkdir makes one folder.
	Mkdir(path string) error
	Rename(from, to string) error
	Remove(path string) error
	RemoveAll(path string) error
	Truncate(path string, size int64) error
	// Sync forces the content of files, and the names in folders, to the disk.
	Sync(paths ...string) error
}

// OS is the disk of this machine.
type OS struct{}

var _ FS = OS{}

// Write implements FS.
func (OS) Write(path string, b []byte) error {
	f, err := files.OpenNoFollow(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, removeIfExists(OS{}, path))
	}
	return nil
}

// Append implements FS.
func (OS) Append(path string) (io.WriteCloser, error) {
	return files.OpenNoFollow(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
}

// Mkdir implements FS.
func (OS) Mkdir(path string) error { return os.Mkdir(path, 0o755) }

// Rename implements FS.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements FS.
func (OS) Remove(path string) error { return os.Remove(path) }

// RemoveAll implements FS.
func (OS) RemoveAll(path string) error { return os.RemoveAll(path) }

// Truncate implements FS.
func (OS) Truncate(path string, size int64) error { return os.Truncate(path, size) }

// Sync implements FS. It syncs the files in parallel, because a journalling file system
// then commits once for all of them.
func (OS) Sync(paths ...string) error {
	errs := make([]error, len(paths))
	var all sync.WaitGroup
	slots := make(chan struct{}, 16)
	for i, path := range paths {
		slots <- struct{}{}
		all.Go(func() {
			errs[i] = syncOne(path)
			<-slots
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// syncOne syncs a file or a folder. Windows cannot sync a folder and need not: its file
// system journals renames.
func syncOne(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() && runtime.GOOS == "windows" {
		return nil
	}
	open := Open
	if info.IsDir() {
		open = os.Open
	}
	f, err := open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// ReadFile reads a regular file of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	b, err := files.ReadAll(f, limit)
	return b, errors.Join(err, f.Close())
}

// Open opens a regular file for reading and refuses everything else.
func Open(path string) (*os.File, error) { return files.OpenNoFollow(path, os.O_RDONLY) }

// MkdirAll makes a folder and its missing parents, and forces their names to the disk.
func MkdirAll(d FS, path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return files.WrongKind(path, "a folder", info.Mode())
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := MkdirAll(d, parent); err != nil {
		return err
	}
	if err := d.Mkdir(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.Sync(parent)
}

// Replace writes b to path atomically: temporary file in the same folder, fsync, rename,
// fsync of the folder.
func Replace(d FS, path string, b []byte) error {
	dir, base := filepath.Split(path)
	tmp := filepath.Join(dir, fmt.Sprintf(".%s.tmp-%016x", base, rand.Uint64()))
	err := d.Write(tmp, b)
	if err == nil {
		err = d.Sync(tmp)
	}
	if err == nil {
		err = d.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfExists(d, tmp))
	}
	return d.Sync(filepath.Dir(path))
}

func removeIfExists(d FS, path string) error {
	if err := d.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
