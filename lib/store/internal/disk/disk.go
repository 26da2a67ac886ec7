// Package disk writes files so that a crash leaves either the old content or
// the new one, never a part of it.
package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Write creates path with the content b. It neither syncs nor renames; after
// an error nothing is left at path.
func Write(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, removeIfThere(path))
	}
	return nil
}

// Replace puts b at path in one step: a temporary file in the same folder,
// fsync, rename, fsync of the folder.
func Replace(path string, b []byte) error {
	return ReplaceWith(Write, path, b)
}

// ReplaceWith is Replace with another function in the place of Write.
func ReplaceWith(write func(string, []byte) error, path string, b []byte) error {
	dir, base := filepath.Split(path)
	f, err := os.CreateTemp(dir, "."+base+".tmp-*")
	if err != nil {
		return err
	}
	tmp := f.Name()
	err = errors.Join(f.Chmod(0o644), f.Close())
	if err == nil {
		err = write(tmp, b)
	}
	if err == nil {
		err = Sync(tmp)
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(tmp))
	}
	return SyncDir(filepath.Dir(path))
}

// Sync forces the content of the files to the disk. The files are synced side
// by side because a journalling file system then commits once for all of them.
func Sync(paths ...string) error {
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

// SyncDir forces the names in a folder to the disk. Windows cannot sync a
// folder and does not need to: its renames are journalled.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return syncOne(dir)
}

func syncOne(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
