// Decoding: the checks of header, ranges and sizes.

package safetensors

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// MaxHeader is the longest header the format allows, in bytes.
const MaxHeader = 100_000_000

// lengthBytes is the size of the header length at the start of a file.
const lengthBytes = 8

// Decode checks b against every rule of the format and returns its content. The tensors'
// Data are slices of b, not copies.
func Decode(b []byte) (*File, error) {
	n, err := headerLength(b[:min(len(b), startBytes)], len(b))
	if err != nil {
		return nil, err
	}
	h, err := decodeHeader(b[lengthBytes:lengthBytes+n], len(b)-lengthBytes-n)
	if err != nil {
		return nil, err
	}
	return h.file(b[lengthBytes+n:]), nil
}

// readFrom reads a file of the given size: first the header, which is checked against the
// rules, the file's size and check (if not nil), then the rest.
func readFrom(r io.Reader, size int, check func(*File) error) (*File, error) {
	start := make([]byte, min(size, startBytes))
	if _, err := io.ReadFull(r, start); err != nil {
		return nil, err
	}
	n, err := headerLength(start, size)
	if err != nil {
		return nil, err
	}
	raw := make([]byte, n)
	if _, err := io.ReadFull(r, raw[copy(raw, start[lengthBytes:]):]); err != nil {
		return nil, err
	}
	h, err := decodeHeader(raw, size-lengthBytes-n)
	if err == nil && check != nil {
		err = check(h.file(nil))
	}
	if err != nil {
		return nil, err
	}
	buffer := make([]byte, size-lengthBytes-n)
	if _, err := io.ReadFull(r, buffer); err != nil {
		return nil, err
	}
	return h.file(buffer), nil
}

// startBytes are the length of the header and its first byte.
const startBytes = lengthBytes + 1

// headerLength returns the header length that the start of a file of the given size states.
func headerLength(start []byte, size int) (int, error) {
	if len(start) < lengthBytes {
		return 0, fmt.Errorf("%w: expected at least %d bytes, found %d", ErrTooShort, lengthBytes, len(start))
	}
	n, rest := binary.LittleEndian.Uint64(start), size-lengthBytes
	switch {
	case n > MaxHeader:
		return 0, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrHeaderTooLarge, n, MaxHeader)
	case n > uint64(rest):
		return 0, fmt.Errorf("%w: header of %d bytes, but only %d follow", ErrHeaderBeyondFile, n, rest)
	case n == 0:
		return 0, fmt.Errorf("%w: it is empty", ErrHeaderStart)
	case start[lengthBytes] != '{':
		return 0, fmt.Errorf("%w: found byte %#02x", ErrHeaderStart, start[lengthBytes])
	}
	return int(n), nil
}

// decodeHeader parses a header and checks it against a buffer of the given length.
func decodeHeader(raw []byte, buffer int) (header, error) {
	if !utf8.Valid(raw) {
		return header{}, ErrHeaderUTF8
	}
	h, err := parseHeader(raw)
	if err != nil {
		return header{}, err
	}
	for _, e := range h.entries {
		if err := e.check(buffer); err != nil {
			return header{}, fmt.Errorf("tensor %q: %w", e.name, err)
		}
	}
	return h, checkCover(h.entries, buffer)
}

// file returns what the header describes; without a buffer the tensors have no Data.
func (h header) file(buffer []byte) *File {
	f := &File{Tensors: make([]Tensor, len(h.entries)), Metadata: h.metadata}
	for i, e := range h.entries {
		f.Tensors[i] = Tensor{Name: e.name, DType: e.dtype, Shape: e.shape}
		if buffer != nil {
			f.Tensors[i].Data = buffer[e.begin:e.end:e.end]
		}
	}
	sortByName(f.Tensors)
	return f
}

// check returns an error for an entry that breaks a rule by itself.
func (e entry) check(buffer int) error {
	want, err := byteSize(e.dtype, e.shape)
	switch {
	case err != nil:
		return err
	case e.begin > e.end:
		return fmt.Errorf("%w: begin %d is behind end %d", ErrOffsets, e.begin, e.end)
	case e.end > buffer:
		return fmt.Errorf("%w: it ends at %d, the buffer at %d", ErrOutsideBuffer, e.end, buffer)
	case e.end-e.begin != want:
		return fmt.Errorf("%w: %v of %s needs %d bytes, found %d", ErrSize, e.shape, e.dtype, want, e.end-e.begin)
	}
	return nil
}

// checkCover refuses holes, overlaps and bytes that belong to no tensor: they could hide
// another file.
func checkCover(entries []entry, buffer int) error {
	order := slices.Clone(entries)
	slices.SortFunc(order, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	next := 0
	for _, e := range order {
		switch {
		case e.begin > next:
			return fmt.Errorf("tensor %q: %w: bytes %d to %d", e.name, ErrHole, next, e.begin)
		case e.begin < next:
			return fmt.Errorf("tensor %q: %w: it begins at %d, the one before ends at %d", e.name, ErrOverlap, e.begin, next)
		}
		next = e.end
	}
	if next != buffer {
		return fmt.Errorf("%w: tensors end at %d, the buffer at %d", ErrNotCovered, next, buffer)
	}
	return nil
}

// byteSize returns the bytes of a tensor: the product of shape and element size, with every
// multiplication checked for overflow.
func byteSize(dtype DType, shape []int) (int, error) {
	size := dtype.Size()
	if size == 0 {
		return 0, fmt.Errorf("%w: %q", ErrDType, dtype)
	}
	n := uint64(1)
	for _, d := range append(slices.Clone(shape), size) {
		if d < 0 {
			return 0, fmt.Errorf("%w: negative dimension %d in %v", ErrShape, d, shape)
		}
		high, low := bits.Mul64(n, uint64(d))
		if high != 0 || low > math.MaxInt {
			return 0, fmt.Errorf("%w: %v of %s", ErrOverflow, shape, dtype)
		}
		n = low
	}
	return int(n), nil
}
