// Reading and checking of files that are kept in the publisher's compressed form.

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

// openCompressed opens a Compressed file, reads all of it once in constant memory, and compares
// its SHA-256. It returns the same handle at its first byte, or nil with an error. got is "" if
// the file could not be read.
func openCompressed(ctx context.Context, folder string, f File) (file *os.File, got string, err error) {
	path := filepath.Join(folder, f.Name)
	file, err = files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("datasets: %s: %w; the publisher's compressed file is needed; %s, %s names the data folder",
			path, ErrMissing, f.howToGet(), EnvDir)
	}
	if err != nil {
		return nil, "", fmt.Errorf("datasets: %w", err)
	}
	got, err = checkCompressed(ctx, file, f)
	if err != nil {
		return nil, got, errors.Join(fmt.Errorf("datasets: %s: %w", path, err), file.Close())
	}
	return file, got, nil
}

// checkCompressed hashes at most one byte more than the published size and rewinds the file.
func checkCompressed(ctx context.Context, file *os.File, f File) (got string, err error) {
	d := f.Digest()
	_, err = io.Copy(d, io.LimitReader(&contextReader{ctx, file}, f.Limit()+1))
	if err != nil {
		return "", err
	}
	if err := d.Check(); err != nil {
		return d.SHA256(), err
	}
	_, err = file.Seek(0, io.SeekStart)
	return d.SHA256(), err
}

// contextReader is a reader whose Read fails when its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (s *contextReader) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(b)
}

// addCompressed adds the first n records of a Compressed comma-separated file to e, or all records
// if n is 0. It holds no more of the file in memory than one buffer.
func (r *loader) addCompressed(name string, n int, e *encoder) error {
	f, err := r.file(name)
	if err != nil {
		return err
	}
	path := filepath.Join(r.folder, f.Name)
	file, _, err := openCompressed(r.ctx, r.folder, f)
	if err != nil {
		return err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("datasets: %s: not a gzip file: %w", path, err)
	}
	r.sources = append(r.sources, SourceFile{Name: f.Name, SHA256: f.SHA256, Compressed: true})
	next := layout{comma: ','}.csv(plain)
	if n > 0 {
		next = firstRecords(n, next)
	}
	return scan(r.ctx, path, next, false, func(record []string, line int) error {
		return e.add(record, path, line)
	})
}

// firstRecords returns a reader of the first n records. It reads nothing after them.
func firstRecords(n int, next recordReader) recordReader {
	return func() ([]string, int, error) {
		if n == 0 {
			return nil, 0, io.EOF
		}
		n--
		return next()
	}
}
