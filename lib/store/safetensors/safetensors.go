// Package safetensors reads and writes the safetensors file format: named
// arrays of plain numbers, nothing that can be executed.
//
// A file is an 8-byte little-endian header length, a JSON header, and one
// buffer. The header maps each tensor's name to its element type, shape and
// byte range in the buffer; "__metadata__" maps strings to strings. Every rule
// of the format has a named error (see errors.go). Values are not checked: NaN and
// infinities pass.
//
// The format: https://github.com/huggingface/safetensors
package safetensors

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
)

// DType names the element type of a tensor, spelt as the format spells it.
type DType string

// The element types that fill whole bytes. F32, F64, I64, I32, U8 and Bool have
// typed accessors; tensors of the others are carried as raw bytes.
const (
	Bool   DType = "BOOL"
	U8     DType = "U8"
	I8     DType = "I8"
	F8E5M2 DType = "F8_E5M2"
	F8E4M3 DType = "F8_E4M3"
	F8E8M0 DType = "F8_E8M0"
	I16    DType = "I16"
	U16    DType = "U16"
	F16    DType = "F16"
	BF16   DType = "BF16"
	I32    DType = "I32"
	U32    DType = "U32"
	F32    DType = "F32"
	C64    DType = "C64"
	F64    DType = "F64"
	I64    DType = "I64"
	U64    DType = "U64"
)

// layoutOrder lists the element types in the order in which the reference
// implementation lays them out, last first; wide elements come first in a file,
// which keeps every tensor aligned.
var layoutOrder = []DType{
	Bool, U8, I8, F8E5M2, F8E4M3, F8E8M0, I16, U16, F16, BF16,
	I32, U32, F32, C64, F64, I64, U64,
}

var sizes = map[DType]int{
	Bool: 1, U8: 1, I8: 1, F8E5M2: 1, F8E4M3: 1, F8E8M0: 1,
	I16: 2, U16: 2, F16: 2, BF16: 2,
	I32: 4, U32: 4, F32: 4, C64: 8, F64: 8, I64: 8, U64: 8,
}

// Size returns the bytes of one element, 0 for an unknown type.
func (d DType) Size() int { return sizes[d] }

// Tensor is one named array: Data holds the elements of Shape in row-major
// order, little endian.
type Tensor struct {
	Name  string
	DType DType
	Shape []int
	Data  []byte
}

// File is the content of a safetensors file. Tensors are sorted by name;
// Metadata is nil when there is none.
type File struct {
	Tensors  []Tensor
	Metadata map[string]string
}

// Bytes returns the bytes of all tensors, computed from their shapes.
func (f *File) Bytes() (n int) {
	for _, t := range f.Tensors {
		size, _ := byteSize(t.DType, t.Shape) // 0 of one that no file holds
		n += size
	}
	return n
}

// Tensor returns the tensor of that name. The error lists the names that there are.
func (f *File) Tensor(name string) (Tensor, error) {
	for _, t := range f.Tensors {
		if t.Name == name {
			return t, nil
		}
	}
	return Tensor{}, fmt.Errorf("%w: %q; the file holds %s", ErrNoTensor, name, f.names())
}

// names lists the first tensors of the file for an error message.
func (f *File) names() string {
	const most = 8
	var names []string
	for _, t := range f.Tensors[:min(most, len(f.Tensors))] {
		names = append(names, fmt.Sprintf("%q", t.Name))
	}
	if len(f.Tensors) > most {
		names = append(names, fmt.Sprintf("and %d more", len(f.Tensors)-most))
	}
	if names == nil {
		return "no tensor"
	}
	return strings.Join(names, ", ")
}

// Read reads and checks a file. The tensors share one buffer.
func Read(path string) (*File, error) { return ReadExpected(path, nil) }

// ReadExpected is Read with a check: expected gets the tensors without their Data before
// those are read, and its error stops the reading.
func ReadExpected(path string, expected func(*File) error) (*File, error) {
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > math.MaxInt {
		return nil, fmt.Errorf("%s: %w: %d bytes", path, ErrOverflow, info.Size())
	}
	out, err := readFrom(f, int(info.Size()), expected)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// Write writes f to path atomically: a reader, even after a power cut, sees the old content
// or the new one. The same f gives the same bytes.
func Write(path string, f *File) error {
	b, err := Encode(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return files.WriteFile(path, b)
}

func sortByName(tensors []Tensor) {
	slices.SortFunc(tensors, func(a, b Tensor) int { return strings.Compare(a.Name, b.Name) })
}
