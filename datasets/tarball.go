// Reading of .tar.gz archives.

package datasets

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

// Limits on an archive; what is published stays far below.
const (
	maxTarballEntries = 200_000
	maxTarball        = 1 << 30 // bytes kept of one archive
)

// ReadTarball returns the requested entries of a .tar.gz archive. wanted returns the size of an
// entry (negative: at most its absolute value) and false for an entry to skip. Nothing is
// written to disk, so names in an archive are harmless.
func ReadTarball(ctx context.Context, from io.Reader, wanted func(entry string) (int64, bool)) (map[string][]byte, error) {
	plain, err := gzip.NewReader(from)
	if err != nil {
		return nil, fmt.Errorf("not a gzip file: %w", err)
	}
	archive, files, total := tar.NewReader(plain), map[string][]byte{}, int64(0)
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, fmt.Errorf("entry %d: %w", n+1, err)
		}
		if n == maxTarballEntries {
			return nil, fmt.Errorf("more than %d entries", maxTarballEntries)
		}
		size, ok := wanted(h.Name)
		if !ok {
			continue
		}
		if _, twice := files[h.Name]; twice {
			return nil, fmt.Errorf("the entry %q occurs twice", h.Name)
		}
		if err := fits(h, size); err != nil {
			return nil, err
		}
		if total += h.Size; total > maxTarball {
			return nil, fmt.Errorf("the entries up to %q hold more than %d bytes", h.Name, maxTarball)
		}
		b := make([]byte, h.Size)
		if _, err := io.ReadFull(archive, b); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(h.Name), err)
		}
		files[h.Name] = b
	}
}

// fits checks an entry's type and announced size.
func fits(h *tar.Header, size int64) error {
	if h.Typeflag != tar.TypeReg {
		return fmt.Errorf("the entry %q is not a regular file", h.Name)
	}
	if size >= 0 && h.Size != size {
		return fmt.Errorf("the entry %q has %d bytes, expected %d", h.Name, h.Size, size)
	}
	if size < 0 && h.Size > -size {
		return fmt.Errorf("the entry %q has %d bytes, the limit is %d", h.Name, h.Size, -size)
	}
	return nil
}
