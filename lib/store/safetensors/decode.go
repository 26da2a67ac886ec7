package safetensors

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// MaxHeader is the longest header the format allows, in bytes.
const MaxHeader = 100_000_000

// lengthBytes is the size of the header length at the start of a file.
const lengthBytes = 8

// Decode checks b against every rule of the format and returns its content.
// The tensors' Data are slices of b, not copies.
func Decode(b []byte) (*File, error) {
	raw, buffer, err := split(b)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(raw)
	if err != nil {
		return nil, err
	}
	for _, e := range h.entries {
		if err := e.check(len(buffer)); err != nil {
			return nil, fmt.Errorf("tensor %q: %w", e.name, err)
		}
	}
	if err := checkCover(h.entries, len(buffer)); err != nil {
		return nil, err
	}
	f := &File{Tensors: make([]Tensor, len(h.entries)), Metadata: h.metadata}
	for i, e := range h.entries {
		data := buffer[e.begin:e.end:e.end]
		f.Tensors[i] = Tensor{Name: e.name, DType: e.dtype, Shape: e.shape, Data: data}
	}
	sortByName(f.Tensors)
	return f, nil
}

// split cuts a file into its header and its buffer.
func split(b []byte) (raw, buffer []byte, err error) {
	if len(b) < lengthBytes {
		return nil, nil, fmt.Errorf("%w: expected at least %d bytes, found %d", ErrTooShort, lengthBytes, len(b))
	}
	n := binary.LittleEndian.Uint64(b)
	rest := b[lengthBytes:]
	switch {
	case n > MaxHeader:
		return nil, nil, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrHeaderTooLarge, n, MaxHeader)
	case n > uint64(len(rest)):
		return nil, nil, fmt.Errorf("%w: header of %d bytes, but only %d follow", ErrHeaderBeyondFile, n, len(rest))
	}
	raw, buffer = rest[:n], rest[n:]
	switch {
	case n == 0:
		return nil, nil, fmt.Errorf("%w: it is empty", ErrHeaderStart)
	case raw[0] != '{':
		return nil, nil, fmt.Errorf("%w: found byte %#02x", ErrHeaderStart, raw[0])
	case !utf8.Valid(raw):
		return nil, nil, ErrHeaderUTF8
	}
	return raw, buffer, nil
}

// check reports an entry that breaks a rule by itself.
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

// checkCover reports holes, overlaps and bytes that no tensor owns: a buffer
// with room to spare could hide another file.
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

// byteSize returns shape x element size, with every multiplication checked.
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
