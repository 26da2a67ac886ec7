// Opening of a text file: plain or gzip, hashed while it is read, other formats refused.

package own

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/lethe-ml/lethe/lib/files"
)

// The sizes of what is looked at before a table is read, and of one record. A quote that is not
// closed would make one record of the rest of the file.
const (
	sampleSize = 1 << 16
	maxRecord  = 4 << 20
)

// text is an open text file.
type text struct {
	*bufio.Reader
	file  *os.File
	sum   hash.Hash // of the decompressed bytes that were read
	limit *recordLimit
}

func openText(path string) (*text, error) {
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	t, err := newText(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return t, nil
}

func newText(file *os.File) (*text, error) {
	from, err := decompressed(file)
	if err != nil {
		return nil, err
	}
	t := &text{file: file, sum: sha256.New()}
	t.limit = &recordLimit{from: io.TeeReader(from, t.sum)}
	t.limit.reset()
	t.Reader, err = files.NewTextReaderSize(t.limit, sampleSize)
	return t, err
}

// decompressed returns the content of a file, which is compressed or not. It refuses files that
// are no text.
func decompressed(file *os.File) (io.Reader, error) {
	start := make([]byte, 4)
	n, err := file.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	start = start[:n]
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return files.Gunzip(file)
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0")):
		return nil, errors.New("an Excel workbook or a zip archive: save the sheet as \"CSV UTF-8\"")
	case bytes.HasPrefix(start, []byte("PAR1")):
		return nil, errors.New("a Parquet file: save the table as CSV")
	case bytes.HasPrefix(start, []byte("\x93NUM")):
		return nil, errors.New("a .npy file: ReadArrays reads it, with its labels in another file")
	case bytes.HasPrefix(start, []byte("\x89HDF")):
		return nil, errors.New("an HDF5 file: ReadCells reads those of anndata (.h5ad)")
	}
	return file, nil
}

// hash returns the SHA-256 of what was read, in hex.
func (t *text) hash() string { return hex.EncodeToString(t.sum.Sum(nil)) }

// close closes the file.
func (t *text) close() error { return t.file.Close() }

var errRecordTooLong = fmt.Errorf("the record does not end within %d bytes: is a quote not closed?", maxRecord)

// recordLimit is a reader that fails when one record is too long. The buffer in front of it reads
// ahead by at most its size.
type recordLimit struct {
	from io.Reader
	left int
}

func (l *recordLimit) reset() { l.left = maxRecord + sampleSize }

// Read implements io.Reader.
func (l *recordLimit) Read(b []byte) (int, error) {
	n, err := l.from.Read(b)
	if l.left -= n; l.left < 0 {
		return 0, errRecordTooLong
	}
	return n, err
}
