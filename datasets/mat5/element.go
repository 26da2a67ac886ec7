// Elements of the MAT-file format: a tag with type and length, and data.

package mat5

import (
	"encoding/binary"
	"fmt"
)

// kind is the storage type of an element's data.
type kind uint32

const (
	int8s      kind = 1
	uint8s     kind = 2
	int16s     kind = 3
	uint16s    kind = 4
	int32s     kind = 5
	uint32s    kind = 6
	singles    kind = 7
	doubles    kind = 9
	int64s     kind = 12
	uint64s    kind = 13
	matrix     kind = 14
	compressed kind = 15
)

// width returns the bytes of one number, 0 for other kinds.
func (k kind) width() int {
	switch k {
	case int8s, uint8s:
		return 1
	case int16s, uint16s:
		return 2
	case int32s, uint32s, singles:
		return 4
	case doubles, int64s, uint64s:
		return 8
	}
	return 0
}

// tagged is an element: a tag with type and length, and the data.
type tagged struct {
	kind kind
	body []byte
	end  int // the first byte after the data
}

// element reads the element that begins at byte at. next is where the next one begins: elements
// are padded to multiples of 8 bytes, except perhaps the last.
func element(b []byte, at int, order binary.ByteOrder) (e tagged, next int, err error) {
	if len(b)-at < 8 {
		return e, 0, fmt.Errorf("byte %d: %d bytes are left, an element has at least 8", at, len(b)-at)
	}
	first := order.Uint32(b[at:])
	if short := first >> 16; short != 0 { // type and length in four bytes, up to four bytes of data
		if short > 4 {
			return e, 0, fmt.Errorf("byte %d: a small element of %d bytes, at most 4 are allowed", at, short)
		}
		end := at + 4 + int(short)
		return tagged{kind: kind(first & 0xFFFF), body: b[at+4 : end : end], end: end}, at + 8, nil
	}
	size := order.Uint32(b[at+4:])
	start := at + 8
	if uint64(size) > uint64(len(b)-start) {
		return e, 0, fmt.Errorf("byte %d: an element of %d bytes, %d are left", at, size, len(b)-start)
	}
	end := start + int(size)
	padded := start + (int(size)+7)/8*8
	return tagged{kind: kind(first), body: b[start:end:end], end: end}, min(padded, len(b)), nil
}
