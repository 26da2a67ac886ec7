package files

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// What may be in a compressed file: text of numbers and names becomes 3 to 30 times as
// long. Gzip can make a byte into a thousand.
const (
	maxRatio   = 100
	extraBytes = 1 << 20
)

// ErrBomb is wrapped where a compressed file holds out of all proportion to its size.
var ErrBomb = errors.New("it holds more than text of its size can")

// Gunzip reads what is in a file of gzip's format, and refuses, once so much was read,
// what is more than a hundred times as long as the file and a MiB.
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

// bounded fails where there is more than left says.
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
