// Tests of gunzip.go.

package files

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestACompressedFileMayNotHoldOutOfAllProportion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.gz")
	for _, c := range []struct {
		n       int
		refused bool
	}{{0, false}, {1 << 20, false}, {8 << 20, true}} {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(make([]byte, c.n)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(z.Close(), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := Gunzip(f)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, r)
		if errors.Is(err, ErrBomb) != c.refused || !c.refused && int(n) != c.n {
			t.Errorf("%d bytes: %d, %v", c.n, n, err)
		}
	}
}
