package cells

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/hdf5"
	"github.com/lethe-ml/lethe/lib/array"
)

// unpacked opens a compressed HDF5 file.
func unpacked(t *testing.T, path string) *hdf5.File {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	f, err := hdf5.New(bytes.NewReader(b), int64(len(b)), "test.h5ad")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// limitMemory makes the package believe for the time of a test that so many bytes are free, and check
// all memory.
func limitMemory(t *testing.T, free int64) {
	before, size := freeBytes, checkedBytes
	freeBytes, checkedBytes = func() (int64, bool) { return free, true }, 0
	t.Cleanup(func() { freeBytes, checkedBytes = before, size })
}

// whole is the sparse form of a dense matrix that is read at once.
func whole(t *testing.T, f *hdf5.File, path string) array.Sparse[float32] {
	t.Helper()
	d, err := f.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	values, err := hdf5.Numbers[float32](d)
	if err != nil {
		t.Fatal(err)
	}
	s := array.Sparse[float32]{Rows: d.Dims[0], Cols: d.Dims[1], Starts: []int{0}}
	for i := range s.Rows {
		for j, v := range values[i*s.Cols : (i+1)*s.Cols] {
			if v != 0 {
				s.Columns, s.Values = append(s.Columns, int32(j)), append(s.Values, v)
			}
		}
		s.Starts = append(s.Starts, len(s.Values))
	}
	return s
}

// A dense matrix that is read by bands is the matrix that is read at once, in every layout.
func TestDenseMatricesAreReadByBands(t *testing.T) {
	f := unpacked(t, "../hdf5/testdata/latest.h5.gz")
	for _, name := range []string{"contiguous", "chunked", "gzip", "gzip_shuffle", "fletcher", "lzf"} {
		path := "numbers/" + name
		got, err := NewH5AD(f).Matrix(path, 17, 11)
		if want := whole(t, f, path); err != nil || len(want.Values) < 100 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v: %v", name, got, want, err)
		}
	}
	if s, err := NewH5AD(f).Matrix("numbers/empty", 0, 3); err != nil || s.Rows != 0 || len(s.Starts) != 1 {
		t.Errorf("a matrix without rows: %v, %v", s, err)
	}
}

// A matrix whose sparse form is larger than the memory is refused by name and size, before it is
// stored.
func TestAMatrixThatIsTooLargeIsRefused(t *testing.T) {
	f := unpacked(t, "../hdf5/testdata/latest.h5.gz")
	n := len(whole(t, f, "numbers/gzip").Values)
	limitMemory(t, storedBytes(n, 0))
	if _, err := NewH5AD(f).Matrix("numbers/gzip", 17, 11); err != nil {
		t.Errorf("what fits is refused: %v", err)
	}
	limitMemory(t, storedBytes(n, 0)-1)
	_, err := NewH5AD(f).Matrix("numbers/gzip", 17, 11)
	if err == nil || !strings.HasPrefix(err.Error(), "numbers/gzip: a matrix of 17 x 11 with ") || !strings.HasSuffix(err.Error(), " GB are free, after 17 rows") {
		t.Errorf("%d bytes: %v", storedBytes(n, 0), err)
	}
	limitMemory(t, storedBytes(5, 4)-1)
	_, err = NewH5AD(unpacked(t, "testdata/csr.h5ad.gz")).Matrix("X", 4, 3)
	if err == nil || err.Error() != "X: a matrix of 4 x 3 with 5 values other than 0 takes 7.2e-08 GB, and 7.1e-08 GB are free" {
		t.Errorf("%v", err)
	}
}

// Place is made for as many values as the rows so far make expect.
func TestPlaceIsMadeOnce(t *testing.T) {
	m := &sparseRows{"X", array.Sparse[float32]{Rows: 100, Cols: 2, Starts: []int{0}}}
	for i := range 100 {
		if err := m.add([]float32{0, 1}); err != nil {
			t.Fatal(err)
		}
		if n := cap(m.s.Values); n < 100 || n > 110 {
			t.Fatalf("place for %d values of 100 after %d rows", n, i+1)
		}
	}
	limitMemory(t, storedBytes(60, 0))
	if err := m.add(make([]float32, 2)); err != nil {
		t.Errorf("rows of zeros need no place: %v", err)
	}
}
