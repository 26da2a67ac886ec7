package npy

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func TestInfoIsTheHeader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	for want, write := range map[string]func() error{
		"<f4 (3, 2)": func() error { return Write(path, array.New[float32](3, 2)) },
		"<f8 (4,)":   func() error { return WriteVector(path, make([]float64, 4)) },
		"<i8 (2,)":   func() error { return WriteIndices(path, []int{5, 6}) },
		"|b1 (1, 2)": func() error { return WriteMask(path, [][]bool{{true, false}}) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
		got, err := ReadInfo(path)
		if err != nil || got.String() != want || got.Kind() != want[1] {
			t.Errorf("%v, %v; want %s", got, err, want)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b[:len(b)-1], 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadInfo(path); err == nil {
		t.Errorf("a file that lacks its last byte: %v", got)
	}
}
