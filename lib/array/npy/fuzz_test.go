package npy

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func FuzzDecode(f *testing.F) {
	paths, err := filepath.Glob(golden("*"))
	if err != nil || len(paths) == 0 {
		f.Fatal(paths, err)
	}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add(fileBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 9223372036854775807)}", 0))
	f.Add(fileBytes("{'descr': '<f8', 'fortran_order': True, 'shape': (9223372036854775807, 0)}", 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decodeMatrix(b); err == nil && len(m.Data) > len(b) {
			t.Errorf("%d values from %d bytes", len(m.Data), len(b))
		}
		if v, err := decodeVector(b); err == nil && len(v) > len(b) {
			t.Errorf("%d values from %d bytes", len(v), len(b))
		}
		if s, err := openAny(bytes.NewReader(b), int64(len(b))); err == nil {
			if l, err := labels(s); err == nil && (len(l.Codes) > len(b) || len(l.Names) > len(l.Codes)) {
				t.Errorf("%d labels from %d bytes", len(l.Codes), len(b))
			}
		}
		if rows, err := decodeMask(b); err == nil && len(rows) > 0 && len(rows)*len(rows[0]) > len(b) {
			t.Errorf("%d x %d bools from %d bytes", len(rows), len(rows[0]), len(b))
		}
		if rows, err := decodeIndices(b); err == nil {
			if v, err := decodeVector(b); err == nil && len(v) != len(rows) {
				t.Errorf("%d floats, %d rows", len(v), len(rows))
			}
		}
	})
}
