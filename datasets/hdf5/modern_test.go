package hdf5

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// testdata/make_modern.py says what made modern.h5.
func TestWhatHDF5HasSince110IsRead(t *testing.T) {
	f := fixture(t, "modern.h5")
	want := make([]int, 42*35)
	for i := range want {
		want[i] = i
	}
	for _, name := range []string{"grid", "grid_gzip", "grid_deep", "zstd", "zstd_shuffle", "single"} {
		d, err := f.Read(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := Numbers[int](d); err != nil || !slices.Equal(d.Dims, []int{42, 35}) || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", name, d.Dims, err)
		}
	}
	for i := range want {
		if row, col := i/35, i%35; row < 10 || row > 11 || col < 7 || col > 8 {
			want[i] = -1
		}
	}
	d, err := f.Read("grid_partly")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Numbers[int](d); err != nil || !slices.Equal(got, want) {
		t.Errorf("chunks that are not stored: %v, %v", got, err)
	}
	if d, err = f.Read("zstd_zeros"); err != nil || len(d.raw) != 16_000_000 || bytes.Count(d.raw, []byte{0}) != len(d.raw) {
		t.Errorf("zeros: %v", err)
	}
	if d, err = f.Read("zstd_names"); err != nil {
		t.Fatal(err)
	}
	if names, err := d.Strings(); err != nil || len(names) != 50 || names[9] != "cell 2" {
		t.Errorf("names: %q, %v", names, err)
	}
}

func TestFiltersThatAreNotUndoneAreNamed(t *testing.T) {
	f := fixture(t, "modern.h5")
	for name, want := range map[string]string{
		"blosc": "filter 32001 (Blosc)", "lz4": "filter 32004 (LZ4)", "bitshuffle": "filter 32008 (bitshuffle)", "bzip2": "filter 307 (bzip2)",
		"scaleoffset": "filter 6 (scale-offset)", "blosc2": "filter 32026 (Blosc2)",
	} {
		if _, err := f.Read(name); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "modern.h5: /"+name) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAttributesAreReadBesideOddOnes(t *testing.T) {
	f := fixture(t, "modern.h5")
	for name, want := range map[string]int{"attribute 007": 14, "attribute 029": 58} {
		d, err := f.Attribute("many", name)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := Numbers[int](d); err != nil || v[0] != want {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	d, err := f.Attribute("many", "long")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := Numbers[int](d); err != nil || len(v) != 3000 || v[2999] != 2999 {
		t.Errorf("a long attribute: %d values, %v", len(v), err)
	}
	if d, err = f.Attribute("odd", "text"); err != nil {
		t.Fatal(err)
	}
	if text, err := d.Text(); err != nil || text != "here" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := f.Attribute("odd", "committed"); err == nil || !strings.Contains(err.Error(), "whose type is shared") {
		t.Error(err)
	}
}

// TestDamagedModernFilesTakeNoMemory damages bytes outside of the many zeros.
func TestDamagedModernFilesTakeNoMemory(t *testing.T) {
	whole := content(t, "modern.h5")
	for at := 0; at < len(whole); at += 331 {
		b := bytes.Clone(whole)
		b[at] ^= 0xff
		f, err := New(bytes.NewReader(b), int64(len(b)), "damaged")
		if err != nil {
			continue
		}
		for _, name := range []string{"grid_deep", "grid_gzip", "zstd_shuffle", "zstd_names"} {
			if d, err := f.Read(name); err == nil {
				decode(f, d)
			}
		}
		f.Attribute("many", "long")
	}
}

// TestStringsThatShareTheirBytesAreNotMultiplied is what a file can claim that names
// one collection of strings at many addresses.
func TestStringsThatShareTheirBytesAreNotMultiplied(t *testing.T) {
	const n = 1000
	b := []byte{}
	for range n { // a collection inside of a collection inside of ...
		b = append(append(b, "GCOL\x01\x00\x00\x00"...), make([]byte, 24)...)
	}
	for k := range n {
		size := len(b) - 32*k
		for i := range 4 {
			b[32*k+8+i] = byte(size >> (8 * i))
			b[32*k+24+i] = byte((size - 32) >> (8 * i))
		}
		b[32*k+16] = 1 // an object, which is the rest
	}
	h := globalHeap{f: &File{r: bytes.NewReader(b), size: uint64(len(b))}, open: map[uint64]map[uint32]string{}}
	if _, err := h.collection(0); err != nil {
		t.Fatal(err)
	}
	if _, err := h.collection(32); err == nil || !strings.Contains(err.Error(), "more bytes than the file") {
		t.Error(err)
	}
}
