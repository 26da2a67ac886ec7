package idx_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/lethe-ml/lethe/datasets/idx"
)

// file writes an idx file of bytes.
func file(data []byte, dims ...int) []byte {
	b := []byte{0, 0, 8, byte(len(dims))}
	for _, d := range dims {
		b = binary.BigEndian.AppendUint32(b, uint32(d))
	}
	return append(b, data...)
}

func TestAFileIsReadWithItsDimensions(t *testing.T) {
	a, err := idx.Parse(file([]byte{1, 2, 3, 4, 5, 6}, 3, 1, 2))
	if err != nil || !slices.Equal(a.Dims, []int{3, 1, 2}) || !slices.Equal(a.Data, []byte{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestBrokenFilesAreNamedByTheByte(t *testing.T) {
	for want, b := range map[string][]byte{
		"byte 0: the file ends":              nil,
		"byte 0: not an idx file":            []byte("\x1f\x8b\x08\x00 gzip"),
		"byte 2: elements of type 0x0d":      {0, 0, 0x0D, 1, 0, 0, 0, 0},
		"byte 3: 0 dimensions":               {0, 0, 8, 0},
		"byte 3: 9 dimensions":               file(make([]byte, 1), 1, 1, 1, 1, 1, 1, 1, 1, 1),
		"byte 7: the file ends within":       {0, 0, 8, 1, 0, 0, 0},
		"byte 4: dimension 1 is 0":           file([]byte{1}, 0),
		"byte 4: dimension 1 is 4294967295":  file([]byte{1}, 1<<32-1),
		"byte 8: the dimensions up to this":  file([]byte{1, 2, 3}, 2, 2),
		"byte 10: 1 bytes after the last":    file([]byte{1, 2, 3}, 2),
		"byte 12: the dimensions up to this": file(make([]byte, 100), 10, 10, 100),
	} {
		if _, err := idx.Parse(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%x: %v, want %q", b, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file([]byte{1, 2, 3, 4, 5, 6}, 3, 2))
	f.Add(file([]byte{7}, 1))
	f.Add(file(nil, 1<<31, 1<<31, 4))
	f.Add([]byte{0, 0, 8, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := idx.Parse(b)
		if err != nil {
			return
		}
		if again := file(a.Data, a.Dims...); !slices.Equal(again, b) {
			t.Errorf("%x was read, %x written", b, again)
		}
	})
}

func ExampleParse() {
	a, err := idx.Parse([]byte{0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 9, 8, 7})
	fmt.Println(a.Dims, a.Data, err)
	// Output: [1 3] [9 8 7] <nil>
}
