package safetensors

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// FuzzDecode: no panic, and what is accepted can be written and read again
// without a change.
func FuzzDecode(f *testing.F) {
	golden, err := os.ReadFile(filepath.Join("testdata", "python.safetensors"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(raw("{}", 0))
	f.Add(raw(`{"__metadata__":{"k":"v"},"a":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}`, 2))
	f.Add(raw(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0))
	f.Add(raw(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\ud800":{"dtype":"U8","shape":[],"data_offsets":[1,2]}}`, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		first, err := Decode(b)
		if err != nil {
			return
		}
		written, err := Encode(first)
		if err != nil {
			t.Fatal(err)
		}
		second, err := Decode(written)
		if err != nil {
			t.Fatal(err)
		}
		if !same(first, second) {
			t.Fatalf("%+v became %+v", first, second)
		}
		again, err := Encode(second)
		if err != nil || !bytes.Equal(written, again) {
			t.Fatalf("%q became %q, %v", written, again, err)
		}
	})
}
