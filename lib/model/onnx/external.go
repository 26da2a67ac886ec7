package onnx

import (
	"fmt"
	"io"
	"os"

	library "github.com/gomlx/onnx-gomlx/onnx"
)

// beside reads weights that a network keeps in files of its own, and only from
// its own folder: a path that leads elsewhere, by dots or by a link, is refused.
type beside struct{ folder string }

var _ library.ExternalDataReader = (*beside)(nil)

// ReadInto implements the library's interface.
func (b *beside) ReadInto(info library.ExternalDataInfo, out []byte) error {
	root, err := os.OpenRoot(b.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	stat, err := root.Stat(info.Location)
	if err != nil {
		return fmt.Errorf("weights in %q: %w", info.Location, err)
	}
	if !stat.Mode().IsRegular() {
		return fmt.Errorf("weights in %q: no regular file", info.Location)
	}
	f, err := root.Open(info.Location)
	if err != nil {
		return fmt.Errorf("weights in %q: %w", info.Location, err)
	}
	defer f.Close()
	if _, err := io.ReadFull(io.NewSectionReader(f, info.Offset, int64(len(out))), out); err != nil {
		return fmt.Errorf("weights in %q: %d bytes from byte %d are not there", info.Location, len(out), info.Offset)
	}
	return nil
}

// Close implements the library's interface; nothing stays open.
func (b *beside) Close() error { return nil }
