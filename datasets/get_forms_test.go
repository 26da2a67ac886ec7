package datasets

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveBytes answers with b.
func serveBytes(t *testing.T, b []byte) string {
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "a", time.Time{}, bytes.NewReader(b))
	})
}

func TestAGzipSourceIsUnpackedAndChecked(t *testing.T) {
	url := serveBytes(t, pack(t, body, gzip.BestSpeed))
	folder, _, err := fetch(t, t.Context(), published(Source{URL: url, Gzip: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	hasNot(t, folder, "a.data.gz.part")
}

func TestAGzipSourceOfOtherBytesIsRefused(t *testing.T) {
	other := bytes.Clone(body)
	other[0] ^= 1
	for name, c := range map[string]struct {
		sent []byte
		want string
	}{
		"other bytes": {pack(t, other, gzip.BestSpeed), "mismatch"},
		"a byte more": {pack(t, append(bytes.Clone(body), 'x'), gzip.BestSpeed), "or more"},
		"a byte less": {pack(t, body[1:], gzip.BestSpeed), "were announced"},
		"no gzip":     {body, "gzip"},
		"a cut one":   {pack(t, body, gzip.BestSpeed)[:500], "unexpected EOF"},
	} {
		folder, _, err := fetch(t, t.Context(), published(Source{URL: serveBytes(t, c.sent), Gzip: true}), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		hasNot(t, folder, "a.data")
	}
}

func TestAFileOfUnknownSizeIsFetchedAndBounded(t *testing.T) {
	info := published(Source{URL: serveBytes(t, body)})
	info.Files[0].Size, info.Files[0].AtMost = 0, int64(len(body))+10
	folder, _, err := fetch(t, t.Context(), info, nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	info.Files[0].AtMost = int64(len(body)) - 1
	if _, _, err = fetch(t, t.Context(), info, nil); err == nil || !strings.Contains(err.Error(), "more than the expected") {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatNobodyPublishesIsNotAskedFor(t *testing.T) {
	folder, _, err := fetch(t, t.Context(), published(), nil)
	if err == nil || !strings.Contains(err.Error(), "no address") || !strings.Contains(err.Error(), filepath.Base(folder)) {
		t.Errorf("got %v", err)
	}
}

func TestOtherPackagesReadCheckedFilesOnly(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvDir, dir)
	packed := pack(t, body, gzip.BestSpeed)
	info := Info{Name: "other", Folder: ".", Files: []File{
		{Name: "a.data", Size: int64(len(body)), SHA256: digest(body)},
		{Name: "b.gz", Size: int64(len(packed)), SHA256: digest(packed), Compressed: true},
	}}
	if _, _, _, err := ReadFile(t.Context(), info, "a.data"); err == nil || !strings.Contains(err.Error(), "file not found") {
		t.Errorf("got %v", err)
	}
	lay(t, dir, "a.data", body)
	lay(t, dir, "b.gz", packed)
	if _, b, from, err := ReadFile(t.Context(), info, "a.data"); err != nil || !bytes.Equal(b, body) || from.SHA256 != digest(body) {
		t.Errorf("%d bytes of %+v, %v", len(b), from, err)
	}
	file, from, err := OpenFile(t.Context(), info, "b.gz")
	if err != nil || !from.Compressed {
		t.Fatalf("%+v, %v", from, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	lay(t, dir, "b.gz", body)
	if _, _, err := OpenFile(t.Context(), info, "b.gz"); err == nil || !strings.Contains(err.Error(), "mismatch") {
		t.Errorf("got %v", err)
	}
	if _, _, err := OpenFile(t.Context(), info, "a.data"); err == nil || !strings.Contains(err.Error(), "no compressed file") {
		t.Errorf("got %v", err)
	}
	found, err := Check(t.Context(), info)
	if err != nil || len(found) != 2 || !found[0].OK() || found[1].OK() {
		t.Errorf("%+v, %v", found, err)
	}
}

func lay(t *testing.T, dir, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
		t.Fatal(err)
	}
}
