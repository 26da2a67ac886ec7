// Bounded decompression of gzip files.

package files

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits of decompression. Text of numbers and names becomes 3 to 30 times as long;
// gzip allows a factor of about a thousand.
const (
	maxRatio   = 100
	extraBytes = 1 << 20
)

// ErrBomb is wrapped where a compressed file is a decompression bomb.
var ErrBomb = errors.New("it holds more than text of its size can")

// Gunzip decompresses a gzip file. Reading fails with ErrBomb once the content exceeds 100
// times the size of the file plus 1 MiB.
func Gunzip(f *os.File) (io.Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return &bounded{z, extraBytes + maxRatio*info.Size()}, nil
}

// bounded is a reader that fails after left bytes.
type bounded struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("%w: more than %d times the file and %d bytes; unpack it to have it read", ErrBomb, maxRatio, extraBytes)
	}
	return n, err
}
