package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/datasets"
)

// serveBytes answers with b.
func serveBytes(t *testing.T, b []byte) string {
	return server(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "a", time.Time{}, bytes.NewReader(b))
	})
}

func TestAGzipSourceIsUnpackedAndChecked(t *testing.T) {
	url := serveBytes(t, pack(t, body, gzip.BestSpeed))
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url, Gzip: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	alone(t, folder, "a.data")
}

// alone wants no file in a folder but these and the lock.
func alone(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1+len(names) {
		t.Errorf("%v, %v; want %v and the lock", entries, err, names)
	}
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
		folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: serveBytes(t, c.sent), Gzip: true}), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		hasNot(t, folder, "a.data")
	}
}

func TestAFileOfUnknownSizeIsFetchedAndBounded(t *testing.T) {
	info := published(datasets.Source{URL: serveBytes(t, body)})
	info.Files[0].Size, info.Files[0].AtMost = 0, int64(len(body))+10
	folder, _, err := fetched(t, t.Context(), info, nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	info.Files[0].AtMost = int64(len(body)) - 1
	if _, _, err = fetched(t, t.Context(), info, nil); err == nil || !strings.Contains(err.Error(), "more than the expected") {
		t.Errorf("got %v", err)
	}
}

func TestAFileThatNobodyPublishesIsNotAskedFor(t *testing.T) {
	folder, _, err := fetched(t, t.Context(), published(), nil)
	if err == nil || !strings.Contains(err.Error(), "no address") || !strings.Contains(err.Error(), filepath.Base(folder)) {
		t.Errorf("got %v", err)
	}
}

func TestOtherPackagesReadCheckedFilesOnly(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	packed := pack(t, body, gzip.BestSpeed)
	info := datasets.Info{Name: "other", Folder: ".", Files: []datasets.File{
		{Name: "a.data", Size: int64(len(body)), SHA256: digest(body)},
		{Name: "b.gz", Size: int64(len(packed)), SHA256: digest(packed), Compressed: true},
	}}
	if _, _, _, err := datasets.ReadFile(t.Context(), info, "a.data"); err == nil || !strings.Contains(err.Error(), "file not found") {
		t.Errorf("got %v", err)
	}
	lay(t, dir, "a.data", body)
	lay(t, dir, "b.gz", packed)
	if _, b, from, err := datasets.ReadFile(t.Context(), info, "a.data"); err != nil || !bytes.Equal(b, body) || from.SHA256 != digest(body) {
		t.Errorf("%d bytes of %+v, %v", len(b), from, err)
	}
	file, from, err := datasets.OpenFile(t.Context(), info, "b.gz")
	if err != nil || !from.Compressed {
		t.Fatalf("%+v, %v", from, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	lay(t, dir, "b.gz", body)
	if _, _, err := datasets.OpenFile(t.Context(), info, "b.gz"); err == nil || !strings.Contains(err.Error(), "mismatch") {
		t.Errorf("got %v", err)
	}
	if _, _, err := datasets.OpenFile(t.Context(), info, "a.data"); err == nil || !strings.Contains(err.Error(), "not a compressed file") {
		t.Errorf("got %v", err)
	}
	found, err := datasets.Check(t.Context(), info)
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

func TestCompressedFilesAreKeptAsDownloadedPlainOrFromAnArchive(t *testing.T) {
	packed := pack(t, body, gzip.BestSpeed)
	z := archive(t, entry{name: "covtype.info", body: []byte("x")}, entry{name: "covtype.data.gz", body: packed})
	url := server(t, func(w http.ResponseWriter, r *http.Request) { w.Write(packed) })
	zipURL := server(t, func(w http.ResponseWriter, r *http.Request) { w.Write(z) })
	old := []byte("an old version")
	for _, source := range []datasets.Source{{URL: url}, {URL: zipURL, Member: "covtype.data.gz"}} {
		info := published()
		info.Files = []datasets.File{{Name: "covtype.data.gz", Size: int64(len(packed)), SHA256: digest(packed), Compressed: true, Sources: []datasets.Source{source}}}
		folder, _, err := fetched(t, t.Context(), info, map[string][]byte{"covtype.data.gz": old})
		if err != nil {
			t.Fatal(err)
		}
		has(t, folder, "covtype.data.gz", packed)
		has(t, folder, "covtype.data.gz.mismatch-"+digest(old)[:8], old)
		if st := datasets.Status(t.Context(), folder, info.Files[0]); !st.OK() {
			t.Errorf("%+v", st)
		}
	}
}

func pack(t testing.TB, b []byte, level int) []byte {
	t.Helper()
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, level)
	if err != nil {
		t.Fatal(err)
	}
	if err := func() error { _, err := z.Write(b); return errors.Join(err, z.Close()) }(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// tarball packs entries into a tar archive in gzip's format.
func tarball(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, e := range entries {
		h, err := tar.FileInfoHeader(fileInfo{e}, "elsewhere")
		if err != nil {
			t.Fatal(err)
		}
		h.Name = e.name
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if e.mode.IsRegular() {
			if _, err := w.Write(e.body); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return pack(t, buf.Bytes(), gzip.BestSpeed)
}

// fileInfo is an entry as a tar header wants it.
type fileInfo struct{ entry }

func (f fileInfo) Name() string       { return f.name }
func (f fileInfo) Size() int64        { return int64(len(f.body)) }
func (f fileInfo) Mode() fs.FileMode  { return f.mode | 0o644 }
func (f fileInfo) ModTime() time.Time { return time.Time{} }
func (f fileInfo) IsDir() bool        { return f.mode.IsDir() }
func (f fileInfo) Sys() any           { return nil }

func TestAMemberOfATarballIsUnpackedAndNothingElse(t *testing.T) {
	url := serveBytes(t, tarball(t, entry{name: "in/", mode: fs.ModeDir}, entry{name: "in/b.data", body: []byte("x")}, entry{name: "in/a.data", body: body}))
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url, Member: "in/a.data", Gzip: true}), nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	alone(t, folder, "a.data")
}

func TestAnArchiveIsDownloadedOnceForAllFilesInIt(t *testing.T) {
	packed := tarball(t, entry{name: "in/b.data", body: body[:10]}, entry{name: "in/a.data", body: body})
	asked := 0
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.ServeContent(w, r, "a", time.Time{}, bytes.NewReader(packed))
	})
	info := published(datasets.Source{URL: url, Member: "in/a.data", Gzip: true})
	info.Files = append(info.Files, datasets.File{Name: "b.data", Size: 10, SHA256: digest(body[:10]),
		Sources: []datasets.Source{{URL: url, Member: "in/b.data", Gzip: true}}})
	folder, _, err := fetched(t, t.Context(), info, nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	has(t, folder, "b.data", body[:10])
	alone(t, folder, "a.data", "b.data")
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	// A process that was killed between the two files resumes.
	name := "archive-" + digest([]byte(url))[:8] + ".tar.gz.part"
	folder, _, err = fetched(t, t.Context(), info, map[string][]byte{"a.data": body, name: packed})
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "b.data", body[:10])
	alone(t, folder, "a.data", "b.data")
}

func TestHostileAndBrokenTarballsAreRefused(t *testing.T) {
	good := entry{name: "a.data", body: body}
	many := make([]entry, maxEntries)
	for i := range many {
		many[i].name = "f"
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"a path upwards":   {tarball(t, good, entry{name: "../evil"}), "leads out"},
		"an absolute path": {tarball(t, good, entry{name: "/etc/evil"}), "leads out"},
		"the member twice": {tarball(t, good, good), "twice"},
		"no member":        {tarball(t, entry{name: "b.data", body: body}), `no entry "a.data"`},
		"a symbolic link":  {tarball(t, entry{name: "a.data", mode: fs.ModeSymlink}), "not a regular file"},
		"too many entries": {tarball(t, append(many, good)...), "more than 1000 entries"},
		"a bomb":           {tarball(t, entry{name: "a.data", body: make([]byte, 50<<20)}), "has 52428800 bytes"},
		"not an archive":   {[]byte("<html>not found</html>"), "gzip: invalid header"},
		"no tar inside":    {pack(t, body, gzip.BestSpeed), "invalid tar header"},
		"a truncated one":  {tarball(t, good)[:200], "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: serveBytes(t, c.b), Member: "a.data", Gzip: true}), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mismatch-") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			hasNot(t, folder, "a.data")
			hasNot(t, filepath.Dir(folder), "evil")
		})
	}
}

func TestAFileThatASetLoadsWithoutIsPassedOver(t *testing.T) {
	info := published(datasets.Source{URL: serveBytes(t, body)})
	info.Files = append([]datasets.File{{Name: "labels", Size: 3, SHA256: digest([]byte("abc")), Optional: true}}, info.Files...)
	folder, notes, err := fetched(t, t.Context(), info, nil)
	if err != nil || len(notes) != 1 || !strings.Contains(notes[0], "labels is missing") {
		t.Errorf("%v, %q", err, notes)
	}
	has(t, folder, "a.data", body)
}

func TestAnAlternateIsKept(t *testing.T) {
	twin := []byte("the same in other bytes")
	info := published()
	info.Files[0].Alternates = []datasets.Alternate{{Size: int64(len(twin)), SHA256: digest(twin)}}
	folder, _, err := fetched(t, t.Context(), info, map[string][]byte{"a.data": twin})
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", twin)
}

func TestAFileIsCheckedByMD5WhereNoSHA256IsKnown(t *testing.T) {
	sum := md5.Sum(body)
	info := published(datasets.Source{URL: serveBytes(t, body)})
	info.Files[0].Size, info.Files[0].AtMost, info.Files[0].SHA256, info.Files[0].MD5 = 0, 1<<20, "", hex.EncodeToString(sum[:])
	folder, _, err := fetched(t, t.Context(), info, nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	info.Files[0].MD5 = strings.Repeat("0", 32)
	folder, _, err = fetched(t, t.Context(), info, nil)
	if !errors.Is(err, datasets.ErrMismatch) || !strings.Contains(err.Error(), "with MD5 0000") {
		t.Errorf("got %v", err)
	}
	hasNot(t, folder, "a.data")
}

func TestAFileOfUnknownHashIsNotDownloaded(t *testing.T) {
	url := serveBytes(t, body)
	info := published(datasets.Source{URL: url})
	info.Files[0].Size, info.Files[0].AtMost, info.Files[0].SHA256 = 0, 1<<20, ""
	folder, _, err := fetched(t, t.Context(), info, nil)
	if err == nil || !strings.Contains(err.Error(), "put the file from "+url+" into "+folder) {
		t.Errorf("got %v", err)
	}
	hasNot(t, folder, "a.data")
	if folder, _, err = fetched(t, t.Context(), info, map[string][]byte{"a.data": body}); err != nil {
		t.Error(err)
	}
	has(t, folder, "a.data", body)
}
