package datasets

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenTextGivesCheckedBytesFromTheStart(t *testing.T) {
	good, twin := []byte(strings.Repeat("a line\n", 9999)), []byte("other bytes, the same content, and longer than it"+strings.Repeat(".", 70000))
	info := Info{Name: "test", Folder: "test", Files: []File{{Name: "a.txt", Size: int64(len(good)), SHA256: digest(good),
		Alternates: []Alternate{{Size: int64(len(twin)), SHA256: digest(twin), Differs: "in all"}}}}}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(good); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file    string
		content []byte
		want    []byte
		err     error
	}{
		"plain":       {"a.txt", good, good, nil},
		"gz":          {"a.txt.gz", z.Bytes(), good, nil},
		"twin":        {"a.txt", twin, twin, nil},
		"other bytes": {"a.txt", good[1:], nil, ErrMismatch},
		"a byte more": {"a.txt", append(bytes.Clone(good), 'x'), nil, ErrMismatch},
		"no gzip":     {"a.txt.gz", good, nil, ErrMismatch},
		"a cut gz":    {"a.txt.gz", z.Bytes()[:z.Len()/2], nil, ErrMismatch},
		"none":        {"b.txt", good, nil, ErrMissing},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv(EnvDir, dir)
			if err := os.Mkdir(filepath.Join(dir, "test"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "test", c.file), c.content, 0o644); err != nil {
				t.Fatal(err)
			}
			path, text, source, err := OpenText(t.Context(), info, "a.txt")
			if c.err != nil {
				if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "a.txt") {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer text.Close()
			got, err := io.ReadAll(text)
			if err != nil || !bytes.Equal(got, c.want) || filepath.Base(path) != c.file || source.SHA256 != digest(c.want) {
				t.Errorf("%d bytes of %s, %+v, %v", len(got), path, source, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, _, _, err := OpenText(ctx, info, "a.txt"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
}
