// Reading of whole binary files, and their hashes.

package own

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/lethe-ml/lethe/lib/files"
)

// readWhole returns the decompressed bytes of a file, at most limit, and their SHA-256 in hex.
func readWhole(path string, limit int64) (b []byte, hash string, err error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !isGzip(f) {
		b, err = files.ReadAll(f, limit)
		return b, hashOf(b), err
	}
	z, err := files.Gunzip(f)
	if err == nil {
		b, err = io.ReadAll(io.LimitReader(z, limit+1))
	}
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%w: more than %d bytes", files.ErrTooLong, limit)
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return b, hashOf(b), nil
}

// isGzip reports whether a file begins as those of gzip do.
func isGzip(f io.ReaderAt) bool {
	start := make([]byte, 2)
	n, _ := f.ReadAt(start, 0) // what cannot be read is found later
	return string(start[:n]) == "\x1f\x8b"
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// hashFile returns the SHA-256 of a file, in hex, in little memory.
func hashFile(path string) (hash string, err error) {
	f, err := files.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
