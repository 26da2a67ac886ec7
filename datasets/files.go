// Verification of the files of a data set.

package datasets

import (
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/progress"
)

// ErrMissing marks a data set whose file is not in the data folder.
var ErrMissing = errors.New("file not found")

// ErrMismatch marks bytes that are not the published ones.
var ErrMismatch = errors.New("SHA-256 mismatch")

// FileStatus is the result of the check of one file.
type FileStatus struct {
	Name string
	Path string // of the file, or of where it is expected
	Got  string // SHA-256 as File defines it; "" when missing or unreadable
	Want string // "" where no hash is known
	Err  error  // nil when the bytes are the published ones

	Optional bool // as in File
}

// OK reports whether the published bytes are there.
func (s FileStatus) OK() bool { return s.Err == nil }

// Verify reads every file of the named data set and compares its SHA-256. The error is about the
// request; a problem with a file is in its status.
func Verify(ctx context.Context, name string) ([]FileStatus, error) {
	s, err := findSet(name)
	if err != nil {
		return nil, err
	}
	return Check(ctx, s.info)
}

// Check is Verify for a data set that is described by another package.
func Check(ctx context.Context, info Info) ([]FileStatus, error) {
	ctx, task := progress.Start(ctx, "verifying "+info.Name, 0)
	defer task.Done()
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	out := make([]FileStatus, 0, len(info.Files))
	for _, f := range info.Files {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		out = append(out, Status(ctx, filepath.Join(dir, info.Folder), f))
	}
	return out, nil
}

// Status hashes one file of a set in the given folder.
func Status(ctx context.Context, folder string, f File) FileStatus {
	if f.Compressed {
		file, got, err := openCompressed(ctx, folder, f)
		if err == nil {
			err = file.Close()
		}
		return FileStatus{Name: f.Name, Path: filepath.Join(folder, f.Name), Got: got, Want: cmp.Or(f.SHA256, f.MD5), Err: err, Optional: f.Optional}
	}
	path, b, err := readPublished(folder, f)
	st := FileStatus{Name: f.Name, Path: path, Want: cmp.Or(f.SHA256, f.MD5), Err: err, Optional: f.Optional}
	if b != nil {
		st.Got = digest(b)
	}
	return st
}

// readPublished returns the path and the decompressed bytes of a file after comparing its hash.
// With ErrMismatch it returns the bytes too.
func readPublished(folder string, f File) (string, []byte, error) {
	path, b, err := readPlainOrGzip(folder, f)
	if err != nil {
		return path, nil, err
	}
	d := f.Digest()
	d.Write(b)
	if err := d.Check(); err != nil {
		return path, b, fmt.Errorf("datasets: %s: %w", path, err)
	}
	return path, b, nil
}

// readPlainOrGzip reads the plain file or its .gz copy. It reads at most one byte more than the
// published size, so that a damaged archive cannot fill the memory.
func readPlainOrGzip(folder string, f File) (string, []byte, error) {
	plain := filepath.Join(folder, f.Name)
	for _, path := range []string{plain, plain + ".gz"} {
		b, err := readAtMost(path, f.Limit()+1)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return path, nil, fmt.Errorf("datasets: %s: %w", path, err)
		}
		return path, b, nil
	}
	return plain, nil, missingFileError(f, plain)
}

func missingFileError(f File, plain string) error {
	return fmt.Errorf("datasets: %s (or .gz): %w; %s, %s names the data folder", plain, ErrMissing, f.howToGet(), EnvDir)
}

func readAtMost(path string, limit int64) ([]byte, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if filepath.Ext(path) != ".gz" {
		return io.ReadAll(io.LimitReader(file, limit))
	}
	r, err := gzip.NewReader(file)
	if err != nil {
		return nil, fmt.Errorf("%w: not a gzip file (%v)", ErrMismatch, err)
	}
	b, err := io.ReadAll(io.LimitReader(r, limit))
	if err != nil {
		return nil, fmt.Errorf("%w: damaged gzip file (%v)", ErrMismatch, err)
	}
	return b, nil
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
