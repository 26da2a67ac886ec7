// Package idx reads the idx format of the MNIST files: two zero bytes, a byte for the type of the
// elements, a byte for the number of dimensions, the dimensions as 32-bit big-endian numbers, then
// the elements, the last dimension changing fastest. Only elements of unsigned bytes are read.
package idx

import (
	"encoding/binary"
	"fmt"
)

// MaxDims is the greatest number of dimensions.
const MaxDims = 8

const unsignedByte = 0x08

// Array is the content of a file.
type Array struct {
	Dims []int
	Data []byte // the file's own bytes, not a copy
}

// Parse reads a whole file. The dimensions must account for every byte. Errors name the byte at
// which something is wrong.
func Parse(b []byte) (Array, error) {
	if len(b) < 4 {
		return Array{}, fmt.Errorf("byte %d: the file ends within the magic number", len(b))
	}
	if b[0] != 0 || b[1] != 0 {
		return Array{}, fmt.Errorf("byte 0: not an idx file: it begins with %#04x", b[:2])
	}
	if b[2] != unsignedByte {
		return Array{}, fmt.Errorf("byte 2: elements of type %#02x; only unsigned bytes (0x08) are read", b[2])
	}
	n := int(b[3])
	if n < 1 || n > MaxDims {
		return Array{}, fmt.Errorf("byte 3: %d dimensions; 1 to %d are read", n, MaxDims)
	}
	start := 4 + 4*n
	if len(b) < start {
		return Array{}, fmt.Errorf("byte %d: the file ends within its %d dimensions", len(b), n)
	}
	a := Array{Dims: make([]int, n), Data: b[start:]}
	want := uint64(1)
	for k := range a.Dims {
		d := binary.BigEndian.Uint32(b[4+4*k:])
		if d == 0 || uint64(d) > uint64(len(a.Data)) {
			return Array{}, fmt.Errorf("byte %d: dimension %d is %d in a file of %d bytes", 4+4*k, k+1, d, len(b))
		}
		if want *= uint64(d); want > uint64(len(a.Data)) {
			return Array{}, fmt.Errorf("byte %d: the dimensions up to this one need %d elements, the file has %d", 4+4*k, want, len(a.Data))
		}
		a.Dims[k] = int(d)
	}
	if want != uint64(len(a.Data)) {
		return Array{}, fmt.Errorf("byte %d: %d bytes after the last element", uint64(start)+want, uint64(len(a.Data))-want)
	}
	return a, nil
}
