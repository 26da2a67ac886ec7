package fetch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lethe-ml/lethe/datasets"
)

// body is what the test servers publish, large enough for several writes.
var body = bytes.Repeat([]byte("0123456789abcdef\n"), 20000)

func published(sources ...datasets.Source) datasets.Info {
	return datasets.Info{Name: "test", Licence: "CC BY 4.0",
		Files: []datasets.File{{Name: "a.data", Size: int64(len(body)), SHA256: digest(body), Sources: sources}}}
}

// fetched runs one download into a fresh folder that may hold earlier files.
func fetched(t *testing.T, ctx context.Context, info datasets.Info, before map[string][]byte) (folder string, notes []string, err error) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "sub", "test")
	for name, b := range before {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d := &downloader{client: http.DefaultClient, attempts: 3, pause: time.Millisecond, stall: 5 * time.Second,
		progress: Progress{Note: func(line string) { notes = append(notes, line) }}}
	err = d.get(ctx, folder, info)
	return folder, notes, err
}

func has(t *testing.T, folder, name string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v; want %d", name, len(got), err, len(want))
	}
}

func hasNot(t *testing.T, folder, name string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there (%v)", name, err)
	}
}

// serve answers with body and honours Range, as a web server does.
func serve(w http.ResponseWriter, r *http.Request) {
	http.ServeContent(w, r, "a.data", time.Time{}, bytes.NewReader(body))
}

func server(t *testing.T, f http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return s.URL
}

func TestGetDownloadsAndReportsProgress(t *testing.T) {
	url := server(t, serve)
	var last, total int64
	var began []string
	folder := t.TempDir()
	d := &downloader{client: http.DefaultClient, attempts: 1, stall: time.Minute, progress: Progress{
		Begin: func(i datasets.Info, f datasets.File, s datasets.Source) {
			began = append(began, i.Licence, f.Name, s.URL)
		},
		Bytes: func(done, all int64) {
			if done < last {
				t.Errorf("progress went back from %d to %d", last, done)
			}
			last, total = done, all
		}}}
	if err := d.get(t.Context(), folder, published(datasets.Source{URL: url})); err != nil {
		t.Fatal(err)
	}
	has(t, folder, "a.data", body)
	hasNot(t, folder, "a.data.part")
	if n := int64(len(body)); last != n || total != n {
		t.Errorf("last report %d of %d, want %d", last, total, n)
	}
	if want := []string{"CC BY 4.0", "a.data", url}; !slices.Equal(began, want) {
		t.Errorf("announced %q, want %q", began, want)
	}
}

func TestAFailureIsTwoLinesWithWhatAReaderCanDo(t *testing.T) {
	gone := server(t, http.NotFound)
	folder, notes, err := fetched(t, t.Context(), published(datasets.Source{URL: gone}, datasets.Source{URL: "http://127.0.0.1:1/a.data"}), nil)
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 2 || strings.Count(lines[0], gone) != 1 || strings.Count(lines[0], "127.0.0.1:1/") != 1 ||
		!strings.Contains(lines[1], digest(body)) || !strings.Contains(lines[1], "into "+folder+" by hand") {
		t.Errorf("%d lines:\n%v", len(lines), err)
	}
	if first := notes[0]; !strings.HasPrefix(first, gone+": ") {
		t.Errorf("noted %q", notes)
	}
}

func TestGetLeavesRightFilesAlone(t *testing.T) {
	url := server(t, func(w http.ResponseWriter, r *http.Request) { t.Error("the server was asked") })
	if _, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), map[string][]byte{"a.data": body}); err != nil {
		t.Error(err)
	}
}

func TestGetGoesOnWhereAPartStops(t *testing.T) {
	var ranges []string
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		ranges = append(ranges, r.Header.Get("Range"))
		serve(w, r)
	})
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), map[string][]byte{"a.data.part": body[:1000]})
	if err != nil || !slices.Equal(ranges, []string{"bytes=1000-"}) {
		t.Errorf("ranges %q, %v", ranges, err)
	}
	has(t, folder, "a.data", body)
}

func TestGetStartsOverWhereTheServerCannotResume(t *testing.T) {
	url := server(t, func(w http.ResponseWriter, r *http.Request) { w.Write(body) })
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), map[string][]byte{"a.data.part": []byte("other bytes")})
	if err != nil {
		t.Error(err)
	}
	has(t, folder, "a.data", body)
}

func TestAPartOfAnotherVersionIsQuarantinedAndLoadedAfresh(t *testing.T) {
	url := server(t, serve)
	wrong := slices.Concat(bytes.Repeat([]byte("x"), 1000))
	folder, notes, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), map[string][]byte{"a.data.part": wrong})
	if err != nil {
		t.Error(err)
	}
	has(t, folder, "a.data", body)
	mixed := slices.Concat(wrong, body[1000:])
	has(t, folder, "a.data.mismatch-"+digest(mixed)[:8], mixed)
	if len(notes) < 2 {
		t.Errorf("notes %q", notes)
	}
}

func TestACutAnswerIsResumed(t *testing.T) {
	var asked atomic.Int32
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
			w.Write(body[:5000])
			panic(http.ErrAbortHandler)
		}
		if got := r.Header.Get("Range"); got != "bytes=5000-" {
			t.Errorf("second request has Range %q", got)
		}
		serve(w, r)
	})
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), nil)
	if err != nil || asked.Load() != 2 {
		t.Errorf("%d requests, %v", asked.Load(), err)
	}
	has(t, folder, "a.data", body)
}

func TestAnAnswerThatEndsEarlyWithoutAnErrorIsNotTaken(t *testing.T) {
	url := server(t, func(w http.ResponseWriter, r *http.Request) { w.Write(body[:77]) })
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), nil)
	if err == nil || !strings.Contains(err.Error(), "ended after 77 of") {
		t.Error(err)
	}
	hasNot(t, folder, "a.data")
	has(t, folder, "a.data.part", body[:77])
}

func TestWrongBytesAreQuarantinedWithBothHashesInTheError(t *testing.T) {
	wrong := bytes.Clone(body)
	wrong[9] ^= 1
	url := server(t, func(w http.ResponseWriter, r *http.Request) { w.Write(wrong) })
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), nil)
	if !errors.Is(err, datasets.ErrMismatch) || !strings.Contains(err.Error(), digest(wrong)) || !strings.Contains(err.Error(), digest(body)) {
		t.Errorf("got %v", err)
	}
	hasNot(t, folder, "a.data")
	has(t, folder, "a.data.mismatch-"+digest(wrong)[:8], wrong)
}

func TestAWrongFileFromBeforeIsQuarantinedAndReplaced(t *testing.T) {
	old := []byte("an old version")
	url := server(t, serve)
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), map[string][]byte{"a.data": old, "a.data.gz": old})
	if err != nil {
		t.Error(err)
	}
	has(t, folder, "a.data", body)
	has(t, folder, "a.data.mismatch-"+digest(old)[:8], old)
	has(t, folder, "a.data.gz.mismatch-"+digest(old)[:8], old)
}

func TestTheNextMirrorIsTriedAfterA404WithoutRepeats(t *testing.T) {
	var asked atomic.Int32
	gone := server(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); http.NotFound(w, r) })
	folder, notes, err := fetched(t, t.Context(), published(datasets.Source{URL: gone}, datasets.Source{URL: server(t, serve)}), nil)
	if err != nil || asked.Load() != 1 || !strings.Contains(strings.Join(notes, "\n"), "404") {
		t.Errorf("%d requests, notes %q, %v", asked.Load(), notes, err)
	}
	has(t, folder, "a.data", body)
}

func TestAServerErrorIsRepeatedAndThenNamed(t *testing.T) {
	var asked atomic.Int32
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		http.Error(w, "", http.StatusServiceUnavailable)
	})
	_, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), nil)
	if asked.Load() != 3 || err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), url) {
		t.Errorf("%d requests, %v", asked.Load(), err)
	}
}

func TestAnEndlessAnswerIsRefused(t *testing.T) {
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(body); err != nil {
				return
			}
		}
	})
	folder, _, err := fetched(t, t.Context(), published(datasets.Source{URL: url}), nil)
	if err == nil || !strings.Contains(err.Error(), "more than the expected") {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(folder, "a.data.part")); err != nil || info.Size() != int64(len(body))+1 {
		t.Errorf("%v, %v: want one byte more than published and no more", info, err)
	}
}

func TestCancelKeepsThePart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body[:4000])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	folder := t.TempDir()
	d := &downloader{client: http.DefaultClient, attempts: 3, pause: time.Millisecond, stall: time.Minute,
		progress: Progress{Bytes: func(done, _ int64) {
			if done == 4000 {
				cancel()
			}
		}}}
	if err := d.get(ctx, folder, published(datasets.Source{URL: url})); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	has(t, folder, "a.data.part", body[:4000])
}

func TestASilentServerIsGivenUp(t *testing.T) {
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body[:10])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	d := &downloader{client: http.DefaultClient, attempts: 1, stall: 20 * time.Millisecond}
	err := d.get(t.Context(), t.TempDir(), published(datasets.Source{URL: url}))
	if err == nil || !strings.Contains(err.Error(), "no byte for 20ms") {
		t.Errorf("got %v", err)
	}
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(datasets.EnvDir, file)
	if err := Get(t.Context(), registered(t, "adult"), Progress{}); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v", err)
	}
}

func TestAReadOnlyFolderIsNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser can write to every folder")
	}
	folder := t.TempDir()
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	d := &downloader{client: http.DefaultClient, attempts: 1, stall: time.Minute}
	err := d.get(t.Context(), folder, published(datasets.Source{URL: server(t, serve)}))
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), folder) {
		t.Errorf("got %v", err)
	}
}

func TestGeneratedSetsNeedNoDownload(t *testing.T) {
	t.Setenv(datasets.EnvDir, filepath.Join(t.TempDir(), "not there"))
	if err := Get(t.Context(), registered(t, "two_moons"), Progress{}); err != nil {
		t.Error(err)
	}
}

func registered(t *testing.T, name string) datasets.Info {
	t.Helper()
	info, err := datasets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
