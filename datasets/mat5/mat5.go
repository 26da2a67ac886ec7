// Package mat5 reads real numeric arrays from MATLAB's MAT-file format, level 5 (MathWorks,
// "MAT-File Format", chapter 1), as save writes it with -v6 and -v7: both byte orders, plain and
// zlib-compressed elements, the short form of small elements, and numbers stored in a smaller type
// than the array's class.
//
// It refuses level 4, HDF5 ("-v7.3"), and a requested array that is complex, sparse, text, a cell,
// a structure or an object. It skips such arrays if they are not requested.
package mat5

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Limits on a file; one beyond them is refused.
const (
	MaxArrays = 1000
	MaxDims   = 16
	maxName   = 256
)

// Class is the type of an array in MATLAB.
type Class byte

// The numeric classes, with the format's numbers.
const (
	Double Class = iota + 6
	Single
	Int8
	Uint8
	Int16
	Uint16
	Int32
	Uint32
	Int64
	Uint64
)

// Array is a real numeric array, the first dimension changing fastest.
type Array struct {
	Name  string
	Class Class
	Dims  []int

	kind  kind
	order binary.ByteOrder
	data  []byte
}

// Read returns the requested arrays of a file, by name. Each must occur exactly once. No array may
// need more than limit bytes decompressed. Errors name the byte of the file, and inside a
// compressed element the byte of its content.
func Read(b []byte, limit int64, wanted ...string) (map[string]Array, error) {
	order, err := header(b)
	if err != nil {
		return nil, err
	}
	found := map[string]Array{}
	at := 128
	for n := 0; at < len(b); n++ {
		if n == MaxArrays {
			return nil, fmt.Errorf("byte %d: more than %d arrays", at, MaxArrays)
		}
		e, next, err := element(b, at, order)
		if err != nil {
			return nil, err
		}
		if err := addWanted(found, e, at, order, limit, wanted); err != nil {
			return nil, err
		}
		if at = next; e.kind == compressed {
			at = e.end // compressed elements are not padded
		}
	}
	for _, name := range wanted {
		if _, ok := found[name]; !ok {
			return nil, fmt.Errorf("no array %q", name)
		}
	}
	return found, nil
}

// header checks the first 128 bytes and returns the byte order.
func header(b []byte) (binary.ByteOrder, error) {
	if len(b) < 128 {
		return nil, fmt.Errorf("byte %d: the file ends within the header of 128 bytes", len(b))
	}
	var order binary.ByteOrder
	switch string(b[126:128]) {
	case "IM":
		order = binary.LittleEndian
	case "MI":
		order = binary.BigEndian
	default:
		return nil, fmt.Errorf("byte 126: not a MAT-file of level 5: no byte-order mark but %q", b[126:128])
	}
	if v := order.Uint16(b[124:]); v != 0x0100 {
		return nil, fmt.Errorf("byte 124: version %#04x; 0x0100 is read (0x0200 is HDF5, save with -v7)", v)
	}
	return order, nil
}

// addWanted adds the array of a top-level element to found if it is requested.
func addWanted(found map[string]Array, e tagged, at int, order binary.ByteOrder, limit int64, wanted []string) error {
	body, where := e.body, fmt.Sprintf("byte %d", at)
	if e.kind == compressed {
		plain, err := inflate(e.body, limit)
		if err != nil {
			return fmt.Errorf("byte %d: compressed element: %w", at, err)
		}
		where += ", decompressed"
		inner, next, err := element(plain, 0, order)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		if next < len(plain) {
			return fmt.Errorf("%s: byte %d: more than one element", where, next)
		}
		e.kind, body = inner.kind, inner.body
	}
	if e.kind != matrix {
		return fmt.Errorf("%s: an element of type %d where an array was expected", where, e.kind)
	}
	a, err := parseArray(body, order, limit, wanted)
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	if a == nil {
		return nil
	}
	if _, twice := found[a.Name]; twice {
		return fmt.Errorf("%s: the array %q occurs twice", where, a.Name)
	}
	found[a.Name] = *a
	return nil
}

// inflate decompresses at most limit bytes of data and the headers around them.
func inflate(b []byte, limit int64) ([]byte, error) {
	const around = 1 << 12
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, limit+around+1))
	if err != nil {
		return nil, err
	}
	if int64(len(plain)) > limit+around {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return plain, nil
}

// parseArray reads the parts of an array, or returns nil for one that is not requested.
func parseArray(b []byte, order binary.ByteOrder, limit int64, wanted []string) (*Array, error) {
	flags, at, err := readSubelement(b, 0, order, "array flags", uint32s)
	if err != nil {
		return nil, err
	}
	if len(flags) != 8 {
		return nil, fmt.Errorf("array flags: %d bytes, expected 8", len(flags))
	}
	dims, at, err := readSubelement(b, at, order, "dimensions", int32s)
	if err != nil {
		return nil, err
	}
	name, at, err := readSubelement(b, at, order, "name", int8s)
	if err != nil {
		return nil, err
	}
	if len(name) > maxName {
		return nil, fmt.Errorf("name: %d bytes, the limit is %d", len(name), maxName)
	}
	if !contains(wanted, string(name)) {
		return nil, nil
	}
	word := order.Uint32(flags)
	a := &Array{Name: string(name), Class: Class(word & 0xFF), order: order}
	if err := a.readShapeAndData(b, at, dims, word, limit); err != nil {
		return nil, fmt.Errorf("array %q: %w", a.Name, err)
	}
	return a, nil
}

// readShapeAndData reads the dimensions and the data of a requested array.
func (a *Array) readShapeAndData(b []byte, at int, dims []byte, flags uint32, limit int64) error {
	const complexFlag = 0x0800
	if a.Class < Double || a.Class > Uint64 {
		return fmt.Errorf("class %d is not numeric", a.Class)
	}
	if flags&complexFlag != 0 {
		return errors.New("complex numbers are not read")
	}
	n := len(dims) / 4
	if len(dims)%4 != 0 || n < 2 || n > MaxDims {
		return fmt.Errorf("dimensions: %d bytes; 2 to %d dimensions are read", len(dims), MaxDims)
	}
	count := int64(1)
	for k := range n {
		d := int64(int32(a.order.Uint32(dims[4*k:])))
		if d < 0 || d > limit || d > 0 && count > limit/d {
			return fmt.Errorf("dimension %d is %d: more than the %d elements that are allowed", k+1, d, limit)
		}
		count *= d
		a.Dims = append(a.Dims, int(d))
	}
	e, next, err := element(b, at, a.order)
	if err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if next < len(b) {
		return fmt.Errorf("data: byte %d: %d bytes after them", next, len(b)-next)
	}
	a.kind, a.data = e.kind, e.body
	if width := a.kind.width(); width == 0 || int64(len(a.data)) != count*int64(width) {
		return fmt.Errorf("data: %d bytes of type %d do not make %d elements", len(a.data), a.kind, count)
	}
	return nil
}

// readSubelement reads one of the parts of an array, which come in a fixed order.
func readSubelement(b []byte, at int, order binary.ByteOrder, what string, k kind) ([]byte, int, error) {
	e, next, err := element(b, at, order)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", what, err)
	}
	if e.kind != k {
		return nil, 0, fmt.Errorf("%s: byte %d: type %d, expected %d", what, at, e.kind, k)
	}
	return e.body, next, nil
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// Len returns the number of elements.
func (a Array) Len() int { return len(a.data) / max(a.kind.width(), 1) }

// Bytes returns the elements of an array that is stored in unsigned bytes, and nil for any other;
// see Floats.
func (a Array) Bytes() []byte {
	if a.kind != uint8s {
		return nil
	}
	return a.data
}

// Float returns element i as a number; 64-bit integers are rounded.
func (a Array) Float(i int) float64 {
	w := a.kind.width()
	b := a.data[i*w : i*w+w]
	switch a.kind {
	case int8s:
		return float64(int8(b[0]))
	case uint8s:
		return float64(b[0])
	case int16s:
		return float64(int16(a.order.Uint16(b)))
	case uint16s:
		return float64(a.order.Uint16(b))
	case int32s:
		return float64(int32(a.order.Uint32(b)))
	case uint32s:
		return float64(a.order.Uint32(b))
	case singles:
		return float64(math.Float32frombits(a.order.Uint32(b)))
	case int64s:
		return float64(int64(a.order.Uint64(b)))
	case uint64s:
		return float64(a.order.Uint64(b))
	}
	return math.Float64frombits(a.order.Uint64(b))
}

// Floats returns all elements as numbers.
func (a Array) Floats() []float64 {
	out := make([]float64, a.Len())
	for i := range out {
		out[i] = a.Float(i)
	}
	return out
}
