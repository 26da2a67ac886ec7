package images

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
)

// zipIndex finds the entries of a zip archive by name.
type zipIndex struct{ entries map[string]*zip.File }

// readZip reads the archive's directory without unpacking anything. Nothing is written to disk, so
// names in the archive are harmless.
func readZip(from io.ReaderAt, size int64) (*zipIndex, error) {
	z, err := zip.NewReader(from, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, err
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%d entries, the limit is %d", len(z.File), maxEntries)
	}
	index := &zipIndex{entries: make(map[string]*zip.File, len(z.File))}
	for _, e := range z.File {
		if _, twice := index.entries[e.Name]; twice {
			return nil, fmt.Errorf("the entry %q occurs twice", clipped(e.Name))
		}
		index.entries[e.Name] = e
	}
	return index, nil
}

// read unpacks one entry of at most limit bytes.
func (z *zipIndex) read(name string, limit int64) ([]byte, error) {
	e, ok := z.entries[name]
	if !ok {
		return nil, fmt.Errorf("no entry %q", name)
	}
	if !e.Mode().IsRegular() {
		return nil, fmt.Errorf("the entry %q is not a regular file (%v)", name, e.Mode())
	}
	if e.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("the entry %q has %d bytes, the limit is %d", name, e.UncompressedSize64, limit)
	}
	from, err := e.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer from.Close()
	b, err := io.ReadAll(io.LimitReader(from, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("the entry %q unpacks to more than %d bytes", name, limit)
	}
	return b, nil
}
