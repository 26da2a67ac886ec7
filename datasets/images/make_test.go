package images

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets"
)

// small is a set as if its publisher's files were the ones given, with so many
// rows. Files are put in the data folder of the test.
func small(t testing.TB, s set, rows, testRows int, files map[string][]byte) (set, *loader) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv(datasets.EnvDir, dir)
	s.info.Rows, s.info.TestRows = rows, testRows
	s.info.Files = slices.Clone(s.info.Files)
	if err := os.MkdirAll(filepath.Join(dir, s.info.Folder), 0o755); err != nil {
		t.Fatal(err)
	}
	for k := range s.info.Files {
		f := &s.info.Files[k]
		b, ok := files[f.Name]
		if !ok {
			t.Fatalf("no bytes for %s", f.Name)
		}
		f.Size, f.SHA256 = int64(len(b)), digest(b)
		if err := os.WriteFile(filepath.Join(dir, s.info.Folder, f.Name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s, &loader{ctx: t.Context(), info: s.info}
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// mustLoad loads all rows of a small set.
func mustLoad(t *testing.T, s set, rows, testRows int, files map[string][]byte) *Images {
	t.Helper()
	s, r := small(t, s, rows, testRows, files)
	m, err := s.load(r, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// refuses wants an error that says so.
func refuses(t *testing.T, want string, s set, rows, testRows int, files map[string][]byte) {
	t.Helper()
	s, r := small(t, s, rows, testRows, files)
	if _, err := s.load(r, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v\nwant %q", err, want)
	}
}

// with returns the files with one of them replaced.
func with(files map[string][]byte, name string, b []byte) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range files {
		out[k] = v
	}
	out[name] = b
	return out
}

// byteOf is the pixel at a position of image i of the made files:
// different for every image, channel, line and column.
func byteOf(i, ch, y, x int) byte { return byte(31*i + 67*ch + 5*y + 3*x) }

// planes is image i channel by channel.
func planes(i, c, h, w int) []byte {
	var out []byte
	for ch := range c {
		for y := range h {
			for x := range w {
				out = append(out, byteOf(i, ch, y, x))
			}
		}
	}
	return out
}

// holds checks that image `published` is in row of the part.
func holds(t *testing.T, m *Images, p datasets.Part, row, published int) {
	t.Helper()
	c, h, w := m.Shape[0], m.Shape[1], m.Shape[2]
	for k, v := range planes(published, c, h, w) {
		if got, want := p.X.Row(row)[k], float32(float64(v)/m.White); got != want {
			t.Fatalf("row %d, pixel %d is %v, want %v of image %d", row, k, got, want, published)
		}
	}
}

func idxFile(data []byte, dims ...int) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, data...)
}

// entry is a member of an archive made by a test.
type entry struct {
	name string
	b    []byte
	kind byte // of tar; 0 is a regular file
}

func tarGz(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	a := tar.NewWriter(z)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: 0o644, Size: int64(len(e.b)), Typeflag: tar.TypeReg}
		if e.kind != 0 {
			h.Typeflag, h.Linkname = e.kind, "elsewhere"
		}
		check(t, a.WriteHeader(h))
		_, err := a.Write(e.b)
		check(t, err)
	}
	check(t, a.Close())
	check(t, z.Close())
	return out.Bytes()
}

func zipped(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	a := zip.NewWriter(&out)
	for _, e := range entries {
		w, err := a.Create(e.name)
		check(t, err)
		_, err = w.Write(e.b)
		check(t, err)
	}
	check(t, a.Close())
	return out.Bytes()
}

// plainJPEG is an image of one colour, which JPEG keeps to a level or two.
func plainJPEG(t testing.TB, w, h int, c color.Color) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.Set(x, y, c)
		}
	}
	return jpegOf(t, img)
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	check(t, jpeg.Encode(&out, img, &jpeg.Options{Quality: 100}))
	return out.Bytes()
}

// matFile writes a MAT-file, level 5, little-endian, of arrays of class uint8.
func matFile(arrays ...[]byte) []byte {
	b := append([]byte(strings.Repeat(" ", 124)), 0, 1, 'I', 'M')
	return slices.Concat(append([][]byte{b}, arrays...)...)
}

func matArray(packed bool, name string, class byte, kind int, data []byte, dims ...int) []byte {
	element := func(kind int, body []byte) []byte {
		b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(kind)), uint32(len(body)))
		return append(append(b, body...), make([]byte, (8-len(body)%8)%8)...)
	}
	var shape []byte
	for _, d := range dims {
		shape = binary.LittleEndian.AppendUint32(shape, uint32(d))
	}
	b := element(14, slices.Concat(element(6, []byte{class, 0, 0, 0, 0, 0, 0, 0}), element(5, shape), element(1, []byte(name)), element(kind, data)))
	if !packed {
		return b
	}
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return append(binary.LittleEndian.AppendUint32([]byte{15, 0, 0, 0}, uint32(out.Len())), out.Bytes()...)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func sprint(values ...any) string { return fmt.Sprint(values...) }
