// Archives of cell sets, tar and zip.

package cells

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/lethe-ml/lethe/datasets"
)

// maxEntries bounds the entries of an archive; published ones have fewer than 200.
const maxEntries = 10_000

// archive is an open archive of the set, its hash checked. Nothing in it is written to disk, so
// its names are harmless.
type archive struct {
	*os.File
	size int64
}

// archive opens an archive of the set.
func (r *loader) archive(name string) (*archive, error) {
	f, source, err := datasets.OpenFile(r.ctx, r.info, name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.sources = append(r.sources, source)
	return &archive{f, info.Size()}, nil
}

// openTarEntry opens an entry of a tar archive in gzip format. Each call reads the archive from
// its start.
func (a *archive) openTarEntry(name string) (file, error) {
	path := a.Name() + ": " + name
	plain, err := gzip.NewReader(io.NewSectionReader(a, 0, a.size))
	if err != nil {
		return file{}, fmt.Errorf("datasets: %s: not a gzip file: %w", a.Name(), err)
	}
	entries := tar.NewReader(plain)
	for range maxEntries {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return file{}, fmt.Errorf("datasets: %s: no such entry", path)
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			return file{}, fmt.Errorf("datasets: %s: %w", a.Name(), err)
		}
		if h.Name == name && h.Typeflag == tar.TypeReg {
			return file{path, io.NopCloser(entries)}, nil
		}
	}
	return file{}, fmt.Errorf("datasets: %s: more than %d entries", a.Name(), maxEntries)
}

// zipEntries returns the entries of a zip archive by name.
func (a *archive) zipEntries() (map[string]*zip.File, error) {
	z, err := zip.NewReader(a, a.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("datasets: %s: %w", a.Name(), err)
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("datasets: %s: %d entries, the limit is %d", a.Name(), len(z.File), maxEntries)
	}
	out := make(map[string]*zip.File, len(z.File))
	for _, e := range z.File {
		if _, twice := out[e.Name]; twice {
			return nil, fmt.Errorf("datasets: %s: the entry %q occurs twice", a.Name(), e.Name)
		}
		out[e.Name] = e
	}
	return out, nil
}

// openZipEntry opens one of the entries.
func (a *archive) openZipEntry(entries map[string]*zip.File, name string) (file, error) {
	path := a.Name() + ": " + name
	e, ok := entries[name]
	if !ok || !e.Mode().IsRegular() {
		return file{}, fmt.Errorf("datasets: %s: no such entry", path)
	}
	r, err := e.Open()
	if err != nil {
		return file{}, fmt.Errorf("datasets: %s: %w", path, err)
	}
	return file{path, r}, nil
}
