package fetch

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// entry is one file of a test archive.
type entry struct {
	name string
	body []byte
	mode fs.FileMode
}

func archive(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for _, e := range entries {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetMode(e.mode | 0o644)
		w, err := z.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(e.body); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestAMemberOfAnArchiveIsUnpackedAndNothingElse(t *testing.T) {
	b := archive(t, entry{name: "read.me", body: []byte("x")}, entry{name: "in/a.data", body: body}, entry{name: "empty/", mode: fs.ModeDir})
	url := server(t, func(w http.ResponseWriter, r *http.Request) { w.Write(b) })
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url, Member: "in/a.data"}), nil)
	if err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 { // a.data and .lock
		t.Errorf("%v, %v", entries, err)
	}
}

func TestHostileAndBrokenArchivesAreRefused(t *testing.T) {
	good := entry{name: "a.data", body: body}
	bomb := archive(t, entry{name: "a.data", body: make([]byte, 50<<20)})
	lying := bytes.Clone(bomb) // announces the published size in the central directory
	at := bytes.LastIndex(lying, []byte("PK\x01\x02"))
	for k := range 4 {
		lying[at+24+k] = byte(len(body) >> (8 * k))
	}
	var many []entry
	for i := range maxEntries {
		many = append(many, entry{name: "f" + strconv.Itoa(i)})
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"a path upwards":     {archive(t, good, entry{name: "../evil"}), "leads out"},
		"an absolute path":   {archive(t, good, entry{name: "/etc/evil"}), "leads out"},
		"a drive":            {archive(t, good, entry{name: "c:evil"}), "leads out"},
		"a backslash":        {archive(t, good, entry{name: `..\evil`}), "leads out"},
		"a NUL":              {archive(t, good, entry{name: "a\x00b"}), "leads out"},
		"the member twice":   {archive(t, good, good), "twice"},
		"no member":          {archive(t, entry{name: "b.data", body: body}), `no entry "a.data"`},
		"a symbolic link":    {archive(t, entry{name: "a.data", body: body, mode: fs.ModeSymlink}), "not a regular file"},
		"too many entries":   {archive(t, append(many, good)...), "the limit is"},
		"a bomb":             {bomb, "has 52428800 bytes"},
		"a bomb that lies":   {lying, ""},
		"not an archive":     {[]byte("<html>not found</html>"), "not a valid zip file"},
		"a truncated one":    {archive(t, good)[:100], "not a valid zip file"},
		"a damaged one":      {damaged(archive(t, good)), ""},
		"an empty answer":    {nil, "not a valid zip file"},
		"a member cut short": {archive(t, entry{name: "a.data", body: body[:10]}), "has 10 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			url := server(t, func(w http.ResponseWriter, r *http.Request) { w.Write(c.b) })
			folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url, Member: "a.data"}), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "mismatch-") {
				t.Errorf("got %v, want %q", err, c.want)
			}
			hasNot(t, folder, "a.data")
			hasNot(t, filepath.Dir(folder), "evil")
			has(t, folder, "archive-"+digest([]byte(url))[:8]+".zip.part.mismatch-"+digest(c.b)[:8], c.b)
			if info, err := os.Stat(filepath.Join(folder, "a.data.part")); err == nil && info.Size() > int64(len(body))+1 {
				t.Errorf("%d bytes were unpacked", info.Size())
			}
		})
	}
}

// damaged flips a bit in the middle of the compressed bytes.
func damaged(b []byte) []byte {
	b = bytes.Clone(b)
	b[60] ^= 0x10
	return b
}
