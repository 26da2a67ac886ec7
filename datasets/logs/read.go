// JSON files, plain or gzip, read within a limit.

package logs

import (
	"fmt"
	"io"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// maxBytes bounds the JSON text of a file. Published logs have about 1 MB.
const maxBytes = 64 << 20

// readText returns the text of a file.
func readText(path string) ([]byte, error) {
	if !strings.HasSuffix(path, ".gz") {
		return files.Read(path, maxBytes)
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	plain, err := files.Gunzip(f)
	if err != nil {
		return nil, fmt.Errorf("%s: not a gzip file: %w", path, err)
	}
	b, err := io.ReadAll(io.LimitReader(plain, maxBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(b) > maxBytes:
		return nil, fmt.Errorf("%s: %w: more than %d bytes of text", path, files.ErrTooLong, maxBytes)
	}
	return b, nil
}
