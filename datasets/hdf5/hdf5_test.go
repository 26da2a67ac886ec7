package hdf5

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fixture opens one of the files that testdata/make.py made with h5py 3.16.0.
func fixture(t testing.TB, name string) *File {
	t.Helper()
	b := content(t, name)
	f, err := New(bytes.NewReader(b), int64(len(b)), name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func content(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// forms are the files with the same content in the formats of three times.
var forms = []string{"earliest.h5", "v108.h5", "latest.h5"}

// expected are dimensions and values as h5py reads them.
type expected struct {
	Dims   []int
	Values []any
}

func golden(t testing.TB) (all struct{ V2, All map[string]expected }) {
	t.Helper()
	if err := json.Unmarshal(content(t, "golden.json"), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// values reads a dataset, or one of its members (after a dot), as in JSON.
func values(f *File, path string) ([]int, []any, error) {
	path, member, _ := strings.Cut(path, ".")
	d, err := f.Read(path)
	if err != nil {
		return nil, nil, err
	}
	if member != "" {
		if d, err = d.Member(member); err != nil {
			return nil, nil, err
		}
	}
	var out []any
	if c := d.Class(); c == String || c == Variable {
		text, err := d.Strings()
		for _, s := range text {
			out = append(out, s)
		}
		return d.Dims, out, err
	}
	numbers, err := Numbers[float64](d)
	if err != nil { // whole numbers that a float64 does not hold: JSON rounds them too
		large, err := Numbers[int64](d)
		for _, v := range large {
			out = append(out, float64(v))
		}
		return d.Dims, out, err
	}
	for _, v := range numbers {
		if math.IsInf(v, 1) {
			out = append(out, "inf")
			continue
		}
		out = append(out, v)
	}
	return d.Dims, out, err
}

func compare(t *testing.T, f *File, want map[string]expected) {
	t.Helper()
	for path, e := range want {
		dims, got, err := values(f, path)
		if err != nil {
			t.Error(err)
			continue
		}
		if !slices.Equal(dims, e.Dims) && len(dims)+len(e.Dims) > 0 || !slices.Equal(got, e.Values) {
			t.Errorf("%s: %s: %v of %.200v, want %v of %.200v", f.name, path, dims, got, e.Dims, e.Values)
		}
	}
}

func TestAllFormsGiveWhatH5pyGives(t *testing.T) {
	all := golden(t)
	for _, name := range forms {
		t.Run(name, func(t *testing.T) { compare(t, fixture(t, name), all.All) })
	}
	compare(t, fixture(t, "v2.h5"), all.V2)
	maps.DeleteFunc(all.All, func(path string, _ expected) bool { return !strings.HasPrefix(path, "numbers/") })
	compare(t, fixture(t, "v114.h5"), all.All)
}

func TestPagedArraysOfChunks(t *testing.T) {
	for name, n := range map[string]int{"paged": 1100, "in_super_blocks": 400} {
		d, err := fixture(t, "latest.h5").Read(name)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Numbers[int](d)
		if err != nil || len(v) != n {
			t.Fatalf("%s: %d values, %v", name, len(v), err)
		}
		for i := range v {
			if v[i] != i {
				t.Fatalf("%s: value %d is %d", name, i, v[i])
			}
		}
	}
}
