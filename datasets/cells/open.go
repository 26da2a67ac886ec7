package cells

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Open reads cells that nobody published, or that this package does not list: a
// folder of 10x Genomics' three files (barcodes.tsv, genes.tsv or features.tsv,
// matrix.mtx, each plain or as .gz). No cell has a class. The name is the last
// element of the path.
func Open(ctx context.Context, path string) (*Cells, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("datasets: %s: a folder of barcodes.tsv, genes.tsv or features.tsv and matrix.mtx is read", path)
	}
	c, err := openFolder(ctx, path)
	if err != nil {
		return nil, err
	}
	c.Name = filepath.Base(filepath.Clean(path))
	c.Title = c.Name
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.Hash = c.hash()
	return c, nil
}

func openFolder(ctx context.Context, folder string) (*Cells, error) {
	t, err := openTriplet(func(names ...string) (file, error) { return openAny(folder, names) })
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.read(ctx)
}

// openAny opens the one of the named files that is there, plain or as .gz.
func openAny(folder string, names []string) (file, error) {
	var found []string
	for _, name := range names {
		for _, path := range []string{filepath.Join(folder, name), filepath.Join(folder, name+".gz")} {
			if _, err := os.Stat(path); err == nil {
				found = append(found, path)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return file{}, fmt.Errorf("datasets: %w", err)
			}
		}
	}
	if len(found) == 0 {
		return file{}, fmt.Errorf("datasets: %s (or .gz): %w", filepath.Join(folder, names[0]), fs.ErrNotExist)
	}
	if len(found) > 1 {
		return file{}, fmt.Errorf("datasets: both %s and %s are there; which is meant?", found[0], found[1])
	}
	return openPlain(found[0])
}

// openPlain opens a file, or what is compressed in one that ends in .gz.
func openPlain(path string) (file, error) {
	f, err := os.Open(path)
	if err != nil {
		return file{}, fmt.Errorf("datasets: %w", err)
	}
	if filepath.Ext(path) != ".gz" {
		return file{path, f}, nil
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return file{}, errors.Join(fmt.Errorf("datasets: %s: not a gzip file: %w", path, err), f.Close())
	}
	return file{path, &unpacked{z, f}}, nil
}

// unpacked closes the file whose content it decompresses.
type unpacked struct {
	io.Reader
	from io.Closer
}

// Close implements io.Closer.
func (u *unpacked) Close() error { return u.from.Close() }
