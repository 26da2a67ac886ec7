// Opening of the user's own files: 10x Genomics' folders and files, anndata's files.

package cells

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/datasets/hdf5"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/progress"
)

// Open reads the user's own cells, or a published set that this package does not list:
//
//   - a folder of 10x Genomics' three files (barcodes.tsv, genes.tsv or features.tsv, matrix.mtx, each
//     plain or as .gz),
//   - 10x Genomics' matrix in HDF5 (.h5),
//   - an anndata file (.h5ad) whose matrix X holds counts; see OpenLayer.
//
// The cells have no classes; the file's columns are in Obs. The name is the last element of the
// path. Caveat lists what was skipped or changed, and whether no gene is mitochondrial by its
// name. Errors name the file, and the line or object.
func Open(ctx context.Context, path string) (*Cells, error) { return open(ctx, path, "X") }

// OpenLayer is Open for an anndata file whose counts are in another matrix, such as
// "layers/counts" or "raw/X".
func OpenLayer(ctx context.Context, path, matrix string) (*Cells, error) {
	if filepath.Ext(path) != ".h5ad" {
		return nil, fmt.Errorf("datasets: %s: only a .h5ad file has several matrices", path)
	}
	return open(ctx, path, matrix)
}

func open(ctx context.Context, path, matrix string) (*Cells, error) {
	ctx, task := progress.Start(ctx, "reading "+filepath.Base(path), 0)
	defer task.Done()
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	var c *Cells
	switch ext := filepath.Ext(path); {
	case info.IsDir():
		c, err = openFolder(ctx, path)
	case ext == ".h5ad":
		c, err = openHDF5(ctx, path, func(f *hdf5.File) (*Cells, error) { return NewH5AD(f).Cells(matrix) })
	case ext == ".h5":
		c, err = openHDF5(ctx, path, tenXH5)
	default:
		err = fmt.Errorf("datasets: %s: a folder of 10x Genomics, a .h5 or a .h5ad is read", path)
	}
	if err != nil {
		return nil, err
	}
	c.Name = filepath.Base(filepath.Clean(path))
	c.Title = c.Name
	if err := c.Check(); err != nil {
		return nil, err
	}
	c.Caveat = strings.Join(append(c.notes, c.mitochondrialNote()...), " ")
	c.Hash = c.hash()
	return c, nil
}

// mitochondrialNote returns a note if no gene is mitochondrial by its name, because then no cell
// is removed for its mitochondrial counts.
func (c *Cells) mitochondrialNote() []string {
	if len(c.Genes) == 0 || isMitochondrial(c.Genes) {
		return nil
	}
	return []string{fmt.Sprintf("No gene's name begins with MT- or mt- (the first is %q): no cell is removed for mitochondrial counts.", c.Genes[0])}
}

func openHDF5(ctx context.Context, path string, use func(*hdf5.File) (*Cells, error)) (*Cells, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	f, err := hdf5.New(contextReaderAt{ctx, file}, info.Size(), path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	c, err := use(f)
	if err == nil {
		for k := range c.notes { // the reader of the notes knows the file
			c.notes[k] = strings.ReplaceAll(c.notes[k], path+": ", "")
		}
		for name, why := range c.skipped {
			c.skipped[name] = strings.ReplaceAll(why, path+": ", "")
		}
	}
	if err != nil && !strings.HasPrefix(err.Error(), path) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	return c, nil
}

// contextReaderAt is a reader whose ReadAt fails when its context has ended.
type contextReaderAt struct {
	ctx context.Context
	r   io.ReaderAt
}

// ReadAt implements io.ReaderAt.
func (s contextReaderAt) ReadAt(b []byte, at int64) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.ReadAt(b, at)
}

func openFolder(ctx context.Context, folder string) (*Cells, error) {
	t, err := openTriplet(func(names ...string) (file, error) { return openOne(folder, names) })
	if err != nil {
		return nil, err
	}
	defer t.close()
	return t.read(ctx)
}

// openOne opens the only one of the named files that exists, plain or as .gz.
func openOne(folder string, names []string) (file, error) {
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
		return file{}, fmt.Errorf("datasets: both %s and %s exist; remove one of them", found[0], found[1])
	}
	return openPlain(found[0])
}

// openPlain opens a file and decompresses it if it ends in .gz.
func openPlain(path string) (file, error) {
	f, err := files.Open(path)
	if err != nil {
		return file{}, fmt.Errorf("datasets: %w", err)
	}
	if filepath.Ext(path) != ".gz" {
		return file{path, f}, nil
	}
	z, err := files.Gunzip(f)
	if err != nil {
		return file{}, errors.Join(fmt.Errorf("datasets: %s: not a gzip file: %w", path, err), f.Close())
	}
	return file{path, &gunzipped{z, f}}, nil
}

// gunzipped is the decompressed content of a file. Close closes the file.
type gunzipped struct {
	io.Reader
	from io.Closer
}

// Close implements io.Closer.
func (u *gunzipped) Close() error { return u.from.Close() }
