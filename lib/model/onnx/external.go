// Weights of a network that lie in files of their own.

package onnx

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// externalFiles reads weights that a network stores in separate files, from its own folder
// only: a path that leads elsewhere, by dots or by a link, is refused.
type externalFiles struct{ folder string }

// read returns the n bytes of a tensor. It checks that the file holds them before
// allocating memory.
func (b externalFiles) read(t *tensor, n int64) ([]byte, error) {
	root, err := os.OpenRoot(b.folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	stat, err := root.Stat(t.location)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return nil, fmt.Errorf("weights in %q, looked for in the folder %s: %w", t.location, b.folder, failed.Err) // its own text repeats the name
	}
	if err != nil {
		return nil, fmt.Errorf("weights in %q: %w", t.location, err)
	}
	if !stat.Mode().IsRegular() {
		return nil, fmt.Errorf("weights in %q: not a regular file", t.location)
	}
	if t.offset > stat.Size() || n > stat.Size()-t.offset {
		return nil, fmt.Errorf("weights in %q: the file has no %d bytes from byte %d on", t.location, n, t.offset)
	}
	f, err := root.Open(t.location)
	if err != nil {
		return nil, fmt.Errorf("weights in %q: %w", t.location, err)
	}
	defer f.Close()
	out := make([]byte, n)
	if _, err := io.ReadFull(io.NewSectionReader(f, t.offset, n), out); err != nil {
		return nil, fmt.Errorf("weights in %q: the file has no %d bytes from byte %d on", t.location, n, t.offset)
	}
	return out, nil
}
