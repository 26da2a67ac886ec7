package npy

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/lethe-ml/lethe/lib/array"
)

func BenchmarkReadMatrix81412x128(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.npy")
	if err := Write(path, array.New[float64](81_412, 128)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(81_412 * 128 * 8)
	for b.Loop() {
		if _, err := ReadMatrix(path); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleReadMatrix() {
	m, err := ReadMatrix(filepath.Join("testdata", "f4.npy"))
	fmt.Println(m.Rows, m.Cols, m.Row(1), err)
	_, err = ReadMatrix(filepath.Join("testdata", "object.npy"))
	fmt.Println(errors.Is(err, ErrObject))
	// Output:
	// 2 3 [0.75 1 1.25] <nil>
	// true
}
