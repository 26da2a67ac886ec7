// Text files: byte-order marks and encodings.

package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrEncoding is wrapped by errors about text that is not UTF-8.
var ErrEncoding = errors.New("the text is not UTF-8")

// NewTextReader returns a reader of UTF-8 text, without the byte-order mark that Windows
// may write before it. Text in UTF-16 is refused.
func NewTextReader(from io.Reader) (*bufio.Reader, error) { return NewTextReaderSize(from, 4096) }

// NewTextReaderSize is NewTextReader with a buffer of the given size, at least 16 bytes.
func NewTextReaderSize(from io.Reader, size int) (*bufio.Reader, error) {
	r := bufio.NewReaderSize(from, size)
	start, err := r.Peek(3)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text, err := TrimBOM(start)
	if err != nil {
		return nil, err
	}
	_, err = r.Discard(len(start) - len(text))
	return r, err
}

// TrimBOM returns text without a byte-order mark. It refuses UTF-16, which begins with
// another mark or has a zero byte beside its first letter.
func TrimBOM(b []byte) ([]byte, error) {
	wide := len(b) > 1 && (b[0] == 0) != (b[1] == 0)
	if wide || bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%w but UTF-16 (first bytes %#x); save it as UTF-8", ErrEncoding, b[:2])
	}
	return bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), nil
}
