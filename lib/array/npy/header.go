// Reading the header of an NPY file: number type, order and shape, checked against
// the file's length.

package npy

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// The format of a header and the limits that open checks.
const (
	magic = "\x93NUMPY"
	// maxHeader is what NumPy itself accepts by default (max_header_size).
	maxHeader = 10_000
	// maxDims is NumPy's limit on dimensions.
	maxDims = 64
	// maxEmpty bounds the dimensions of an array without elements, which the length
	// of the data does not bound, so that loops over its rows end.
	maxEmpty = 1 << 24
)

// header is the parsed header of a file.
type header struct {
	descr    string
	kind     byte // 'f', 'i', 'u' or 'b'; 'U' or 'S' for text, which only ReadLabels reads
	size     int  // of an element, in bytes
	bfloat16 bool // bfloat16: the upper half of a float32
	order    binary.ByteOrder
	fortran  bool
	shape    []int
}

// source is an open file after its header: the data come next.
type source struct {
	header
	data io.Reader
}

// open reads the header of a file of the given size. It refuses text; see openAny.
func open(r io.Reader, size int64) (*source, error) {
	s, err := openAny(r, size)
	if err == nil && s.isText() {
		return nil, unknownType(s.descr)
	}
	return s, err
}

// openAny is open for numbers and for text. It checks that the data have exactly the length of
// the header's shape, so the file bounds the memory.
func openAny(r io.Reader, size int64) (*source, error) {
	b, err := io.ReadAll(io.LimitReader(r, min(size, int64(len(magic)+2+4+maxHeader))))
	if err != nil {
		return nil, err
	}
	text, rest, err := cutHeader(b)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(text)
	if err != nil {
		return nil, err
	}
	if err := h.check(size - int64(len(b)-len(rest))); err != nil {
		return nil, err
	}
	return &source{h, io.MultiReader(bytes.NewReader(rest), r)}, nil
}

// check compares the shape with the length of the data.
func (h header) check(length int64) error {
	want := uint64(h.size)
	for _, d := range h.shape {
		high, low := bits.Mul64(want, uint64(d))
		if high != 0 {
			return fmt.Errorf("%w: shape %s of %q overflows", ErrFormat, h.shapeText(), h.descr)
		}
		want = low
	}
	if want != uint64(length) {
		return fmt.Errorf("%w: shape %s of %q needs %d bytes, found %d", ErrFormat, h.shapeText(), h.descr, want, length)
	}
	if want == 0 && slices.Max(h.shape) > maxEmpty {
		return fmt.Errorf("%w: shape %s of an empty array, at most %d is allowed", ErrFormat, h.shapeText(), maxEmpty)
	}
	return nil
}

// cutHeader returns the header's text and the bytes after it.
func cutHeader(b []byte) (text string, data []byte, err error) {
	if !bytes.HasPrefix(b, []byte(magic)) {
		return "", nil, fmt.Errorf("%w: expected it to start with %q, found %q", ErrFormat, magic, b[:min(len(b), len(magic))])
	}
	b = b[len(magic):]
	if len(b) < 2 {
		return "", nil, fmt.Errorf("%w: it ends before the version", ErrFormat)
	}
	version, minor := b[0], b[1]
	if version < 1 || version > 3 || minor != 0 {
		return "", nil, fmt.Errorf("%w: expected version 1.0, 2.0 or 3.0, found %d.%d", ErrFormat, version, minor)
	}
	b = b[2:]
	width := 4
	if version == 1 {
		width = 2
	}
	if len(b) < width {
		return "", nil, fmt.Errorf("%w: it ends before the header length", ErrFormat)
	}
	n := uint32(binary.LittleEndian.Uint16(b))
	if version > 1 {
		n = binary.LittleEndian.Uint32(b)
	}
	b = b[width:]
	switch {
	case n > maxHeader:
		return "", nil, fmt.Errorf("%w: header of %d bytes, at most %d are allowed", ErrFormat, n, maxHeader)
	case uint64(n) > uint64(len(b)):
		return "", nil, fmt.Errorf("%w: header of %d bytes, but only %d follow", ErrFormat, n, len(b))
	case version == 3 && !utf8.Valid(b[:n]):
		return "", nil, fmt.Errorf("%w: header is not valid UTF-8", ErrFormat)
	}
	return string(b[:n]), b[n:], nil
}

func unknownType(descr string) error {
	return fmt.Errorf("%w: expected float16, bfloat16, float32, float64, integers of 8 to 64 bits or bools, found %q", ErrType, descr)
}

// setDescr interprets a type such as "<f8".
func (h *header) setDescr(descr string) error {
	h.descr = descr
	if strings.HasPrefix(strings.TrimLeft(descr, "<>|="), "O") {
		return fmt.Errorf("%w (type %q)", ErrObject, descr)
	}
	if h.setText(descr) {
		return nil
	}
	refused := unknownType(descr)
	if len(descr) != 3 {
		return refused
	}
	h.kind, h.size = descr[1], int(descr[2]-'0')
	switch descr[1:] {
	case "f2", "f4", "f8", "i2", "i4", "i8", "u2", "u4", "u8":
	case "i1", "u1", "b1":
		h.order = binary.LittleEndian // a single byte has no order
		return nil
	case "V2":
		return h.setBFloat16(refused)
	default:
		return refused
	}
	switch descr[0] {
	case '<':
		h.order = binary.LittleEndian
	case '>':
		h.order = binary.BigEndian
	default:
		return refused
	}
	return nil
}

// setBFloat16 interprets two bytes without a type as bfloat16. NumPy has no bfloat16; for
// that of ml_dtypes it writes "<V2", or "|V2" once the array was loaded and saved again. No
// other numbers are written so.
func (h *header) setBFloat16(refused error) error {
	if h.descr[0] != '<' && h.descr[0] != '|' {
		return refused
	}
	h.kind, h.bfloat16, h.order = 'f', true, binary.LittleEndian
	return nil
}

// shapeText prints the shape as Python does.
func (h header) shapeText() string {
	if len(h.shape) == 1 {
		return fmt.Sprintf("(%d,)", h.shape[0])
	}
	return "(" + strings.Trim(strings.ReplaceAll(fmt.Sprint(h.shape), " ", ", "), "[]") + ")"
}
