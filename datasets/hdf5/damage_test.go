package hdf5

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// visit reads everything in a file, as far as it can be read, and says how much.
func visit(b []byte) (read int) {
	f, err := New(bytes.NewReader(b), int64(len(b)), "test.h5")
	if err != nil {
		return 0
	}
	left := 500 // links may lead in a circle
	var below func(path string)
	below = func(path string) {
		if left--; left < 0 {
			return
		}
		for _, name := range []string{"text", "shape", "ref", "attribute 003"} {
			if d, err := f.Attribute(path, name); err == nil {
				decode(f, d)
			}
		}
		if group, err := f.IsGroup(path); err != nil || !group {
			if d, err := f.Read(path); err == nil {
				read++
				decode(f, d)
			}
			f.EachBand(path, func(_ int, d *Data) error { decode(f, d); return nil })
			return
		}
		names, err := f.Names(path)
		if err != nil {
			return
		}
		for _, name := range names {
			below(path + "/" + name)
		}
	}
	below("")
	return read
}

func decode(f *File, d *Data) {
	Numbers[float32](d)
	Numbers[int64](d)
	d.Strings()
	for _, m := range d.Members() {
		if d, err := d.Member(m); err == nil {
			decode(f, d)
		}
	}
	to, _ := d.References()
	for _, r := range to[:min(len(to), 3)] {
		f.ReadAt(r)
	}
}

func TestDamageNeitherPanicsNorTakesMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, name := range append(forms, "v114.h5", "v2.h5") {
		whole := content(t, name)
		if n := visit(whole); n == 0 {
			t.Fatalf("%s: nothing was read", name)
		}
		for range 80 {
			b := bytes.Clone(whole)
			for range 1 + rng.IntN(6) {
				at := rng.IntN(len(b))
				switch b[at] = byte(rng.IntN(256)); rng.IntN(3) {
				case 0:
					b[at] = 0xff
				case 1: // an address of somewhere else
					copy(b[at:], b[rng.IntN(len(b)):][:min(8, len(b)-at)])
				}
			}
			bounded(t, b)
		}
		for cut := 0; cut < len(whole); cut += 1 + len(whole)/25 {
			bounded(t, whole[:cut])
		}
	}
}

// bounded visits a file and demands that what is allocated is in proportion to it.
func bounded(t *testing.T, b []byte) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	visit(b)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<26 {
		t.Errorf("%d bytes for a file of %d", n, len(b))
	}
}

// A circle of links is followed only as far as the path goes.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"v2.h5", "v114.h5", "v108.h5"} {
		f.Add(content(f, name))
	}
	f.Fuzz(func(_ *testing.T, b []byte) { visit(b) })
}

func TestFilesThatAreNotReadSayWhy(t *testing.T) {
	old, second := content(t, "earliest.h5"), content(t, "v2.h5")
	change := func(b []byte, at int, to byte) []byte {
		b = bytes.Clone(b)
		b[at] = to
		return b
	}
	for want, b := range map[string][]byte{
		"test.h5: not an HDF5 file":                             []byte("<html>not found</html>"),
		"test.h5: not an HDF5 file, or":                         nil,
		"test.h5: superblock of version 9; 0 to 3 are read":     change(old, 8, 9),
		"test.h5: offsets of 4 and lengths of 8 bytes":          change(old, 13, 4),
		"test.h5: a base address of 1":                          change(old, 24, 1),
		"test.h5: superblock: the checksum is wrong":            change(second, 20, 1),
		"test.h5: superblock: the structure ends too early":     old[:40],
		"it is cut off: it has 300 of its ":                     old[:300],
		"test.h5: the file ends early, it is cut off: it has 9": second[:900],
		"test.h5: /: object header at byte 255: version":        change(old, 64, 255),
		"test.h5: /: object header at byte 48: the checksum is": change(second, 60, 99),
	} {
		f, err := New(bytes.NewReader(b), int64(len(b)), "test.h5")
		if err == nil {
			_, err = f.Names("/")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestFiltersRefuseDamage(t *testing.T) {
	all := filters{{id: filterShuffle, width: 2}, {id: filterFletcher}}
	stored := append([]byte{1, 3, 2, 4}, 0, 0, 0, 0)
	sum := fletcher32(stored[:4])
	for k := range 4 {
		stored[4+k] = byte(sum >> (8 * k))
	}
	if got, err := all.decode(bytes.Clone(stored), 0, 4); err != nil || !bytes.Equal(got, []byte{1, 2, 3, 4}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := all.decode([]byte{9, 8, 7, 6}, 3, 4); err != nil || !bytes.Equal(got, []byte{9, 8, 7, 6}) {
		t.Errorf("filters that were left out: %v, %v", got, err)
	}
	for want, undo := range map[string]func() error{
		"the checksum is wrong":    func() error { stored[0]++; _, err := all.decode(stored, 0, 4); return err },
		"ends too early":           func() error { _, err := all.decode([]byte{1}, 0, 4); return err },
		"4 bytes, expected 5":      func() error { _, err := all.decode([]byte{9, 8, 7, 6}, 3, 5); return err },
		"a reference to before":    func() error { _, err := unpackLZF([]byte{0x20, 5}, 9); return err },
		"lzf: more than 9":         func() error { _, err := unpackLZF([]byte{0, 1, 0xe0, 200, 0}, 9); return err },
		"the structure ends too e": func() error { _, err := unpackLZF([]byte{9, 1}, 9); return err },
		"zlib: invalid header":     func() error { _, err := inflate([]byte("no zlib"), 9); return err },
	} {
		if err := undo(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAShapeThatNothingFillsIsRefused(t *testing.T) {
	if b, err := (&object{}).newFilled(4, 1<<32, 1<<20); err == nil || !strings.Contains(err.Error(), "1048576 stored bytes cannot decompress to 4294967296 bytes") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	g := &grid{f: &File{size: 100}, l: &layout{chunk: []int{2}}, dims: []int{6}, seen: map[int]bool{}}
	for k, want := range []string{"", "", "the chunks hold more bytes"} {
		err := g.add([]int{2 * k}, span{8, 40}, 0)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("chunk %d: %v", k, err)
		}
	}
	for want, corner := range map[string]int{"occurs twice": 2, "a chunk at [6]": 6, "a chunk at [3]": 3} {
		if err := g.add([]int{corner}, span{8, 1}, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
