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

// openCompressed opens a Compressed file and reads all of it once, in constant
// memory, to compare its SHA-256. The handle that comes back is the one that was
// checked, at its first byte; it is nil with an error. got is "" where the file
// could not be read.
func openCompressed(ctx context.Context, folder string, f File) (file *os.File, got string, err error) {
	path := filepath.Join(folder, f.Name)
	file, err = files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("datasets: %s: %w; it has to be the publisher's compressed file; %s, %s names the data folder",
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

// checkCompressed hashes at most one byte more than published and rewinds.
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

// contextReader ends a long read when its context does.
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

// addCompressed adds the records of a Compressed comma-separated file to e, the first n
// of them, or all where n is 0. No more of the file than a buffer is in memory.
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

// firstRecords ends after n records and reads nothing behind them.
func firstRecords(n int, next recordReader) recordReader {
	return func() ([]string, int, error) {
		if n == 0 {
			return nil, 0, io.EOF
		}
		n--
		return next()
	}
}
