// Opening of a data set's files by loaders in other packages.

package datasets

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/files"
)

// ReadFile returns the path and the decompressed bytes of one of a set's files after comparing
// their hash. Loaders in other packages use it for files that are not Compressed.
func ReadFile(ctx context.Context, info Info, name string) (string, []byte, SourceFile, error) {
	r, err := newLoader(ctx, info)
	if err != nil {
		return "", nil, SourceFile{}, err
	}
	path, b, err := r.open(name)
	if err != nil {
		return path, nil, SourceFile{}, err
	}
	return path, b, r.sources[0], nil
}

// OpenFile opens one of a set's Compressed files at its first byte, after comparing its hash. The
// caller closes it.
func OpenFile(ctx context.Context, info Info, name string) (*os.File, SourceFile, error) {
	r, err := newLoader(ctx, info)
	if err != nil {
		return nil, SourceFile{}, err
	}
	f, err := r.file(name)
	if err != nil {
		return nil, SourceFile{}, err
	}
	if !f.Compressed {
		return nil, SourceFile{}, fmt.Errorf("datasets: %s: %s is not a compressed file", info.Name, name)
	}
	file, got, err := openCompressed(ctx, r.folder, f)
	if err != nil {
		return nil, SourceFile{}, err
	}
	return file, SourceFile{Name: f.Name, SHA256: got, Compressed: true}, nil
}

// OpenText opens one of a set's files that are not Compressed at the first decompressed byte,
// after reading all bytes once in constant memory and comparing their hash with the published one
// or an Alternate's. The path is that of the plain file or of its .gz copy. The caller closes it.
func OpenText(ctx context.Context, info Info, name string) (path string, text io.ReadCloser, source SourceFile, err error) {
	r, err := newLoader(ctx, info)
	if err != nil {
		return "", nil, SourceFile{}, err
	}
	f, err := r.file(name)
	if err != nil {
		return "", nil, SourceFile{}, err
	}
	plain := filepath.Join(r.folder, f.Name)
	for _, path := range []string{plain, plain + ".gz"} {
		t, err := openText(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return path, nil, SourceFile{}, fmt.Errorf("datasets: %s: %w", path, err)
		}
		got, err := t.check(ctx, f)
		if err != nil {
			return path, nil, SourceFile{}, errors.Join(fmt.Errorf("datasets: %s: %w", path, err), t.Close())
		}
		return path, t, SourceFile{Name: f.Name, SHA256: got}, nil
	}
	return plain, nil, SourceFile{}, missingFileError(f, plain)
}

// text is a plain file, or a gzip file that is decompressed while it is read.
type text struct {
	file *os.File
	io.Reader
}

func openText(path string) (*text, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	t := &text{file: file}
	if err := t.rewind(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return t, nil
}

// Close implements io.Closer.
func (t *text) Close() error { return t.file.Close() }

func (t *text) rewind() error {
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	t.Reader = t.file
	if filepath.Ext(t.file.Name()) != ".gz" {
		return nil
	}
	z, err := gzip.NewReader(t.file)
	if err != nil {
		return fmt.Errorf("%w: not a gzip file (%v)", ErrMismatch, err)
	}
	t.Reader = z
	return nil
}

// check hashes at most one byte more than the published size and rewinds the file.
func (t *text) check(ctx context.Context, f File) (string, error) {
	d := f.Digest()
	_, err := io.Copy(d, io.LimitReader(&contextReader{ctx, t}, f.Limit()+1))
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		return "", fmt.Errorf("%w: damaged file (%v)", ErrMismatch, err)
	}
	if err := d.Check(); err != nil {
		return d.SHA256(), err
	}
	return d.SHA256(), t.rewind()
}

func newLoader(ctx context.Context, info Info) (*loader, error) {
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	return &loader{ctx: ctx, info: info, folder: filepath.Join(dir, info.Folder)}, nil
}
