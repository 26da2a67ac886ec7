// Package npy reads and writes NumPy's .npy files, for embeddings and scores from any
// framework.
//
// It reads versions 1 to 3 of the format, both byte orders, C and Fortran layout, with
// elements of float16, float32, float64, signed and unsigned integers of 8 to 64 bits, and
// bfloat16 as saved by the package ml_dtypes (two bytes without a type). An array of Python
// objects is an error: it is a pickle, which runs code when it is loaded. The header is
// parsed, never evaluated, and memory is allocated only after the shape is checked against
// the size of the file.
//
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
package npy

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/lethe-ml/lethe/lib/array"
	"github.com/lethe-ml/lethe/lib/files"
)

// Errors for errors.Is. The error text names the file, what was expected and what was
// found.
var (
	// ErrFormat: the file is not a valid .npy file.
	ErrFormat = errors.New("not a valid .npy file")
	// ErrObject: the file holds pickled Python objects.
	ErrObject = errors.New("arrays of Python objects are never read: they can run code")
	// ErrType: the elements have a type that the reader does not accept.
	ErrType = errors.New("unsupported element type")
	// ErrShape: the array has a number of dimensions that the reader does not accept.
	ErrShape = errors.New("unexpected shape")
	// ErrValue: an element cannot be represented, or is not a row number or a class.
	ErrValue = errors.New("unexpected value")
)

// ReadMatrix reads an array of shape (rows, columns). Integers become floats; one that a
// float64 cannot represent exactly is an error. NaN and infinities are no errors here; use
// Matrix.Check. Bools are an error, because a mask is easily mistaken for a matrix of
// numbers.
//
// Memory: the matrix and 1 MiB.
func ReadMatrix(path string) (array.Matrix[float64], error) {
	return read(path, matrix[float64])
}

// ReadSingle is ReadMatrix with every element rounded to a float32. Memory: the matrix and
// 1 MiB.
func ReadSingle(path string) (array.Matrix[float32], error) { return read(path, matrix[float32]) }

// ReadRows is ReadMatrix with elements of the smaller of float32 and float64 that
// represents all of them: float32 for float32 and all types of one or two bytes. Memory: at
// most the size of the file for types of four or eight bytes, twice that for types of two
// bytes and 32-bit integers, four times for types of one byte.
func ReadRows(path string) (array.Rows, error) { return read(path, rows) }

func rows(s *source) (array.Rows, error) {
	if len(s.shape) != 2 {
		return nil, s.notMatrix()
	}
	return records(s)
}

// records returns an array's elements, one row per index of the first axis.
func records(s *source) (array.Rows, error) {
	if s.size <= 2 || s.kind == 'f' && s.size == 4 {
		m, err := flattenRecords[float32](s)
		return m, err
	}
	m, err := flattenRecords[float64](s)
	return m, err
}

func flattenRecords[T array.Float](s *source) (array.Matrix[T], error) {
	size := 1
	for _, d := range s.shape[1:] {
		size *= d // no overflow: open has multiplied all of them
	}
	out := array.New[T](s.shape[0], size)
	return out, fill(s, out.Data)
}

// ReadRecords is ReadRows for records of any shape, images for instance: a file
// of shape (n, a, b, ...) is read as n rows of a*b*... values, the last axis fastest. axes
// is the shape of a record, (a, b, ...).
func ReadRecords(path string) (x array.Rows, axes []int, err error) {
	x, err = read(path, func(s *source) (array.Rows, error) {
		if len(s.shape) < 2 {
			return nil, fmt.Errorf("%w: expected 2 dimensions or more, the first of records, found shape %s", ErrShape, s.shapeText())
		}
		axes = append(axes, s.shape[1:]...)
		return records(s)
	})
	return x, axes, err
}

// ReadVector reads an array of shape (n,) or (n, 1), with the conversions of
// ReadMatrix.
func ReadVector(path string) ([]float64, error) {
	return read(path, vector)
}

// ReadIndices reads row numbers: an array of shape (n,) or (n, 1) of integers >= 0.
// A mask of bools is an error, because it is easily mistaken for the numbers 0 and 1.
func ReadIndices(path string) ([]int, error) {
	return read(path, indices)
}

// ReadClasses reads the classes of records: an array of shape (n,) or (n, 1) of integers
// >= 0, of floats with integer values >= 0, or of bools (classes 0 and 1).
func ReadClasses(path string) ([]int, error) {
	return read(path, classes)
}

// ReadMask reads m masks of n records: an array of shape (m, n), or (n,) for one mask, of
// bools or of integers that are 0 or 1.
func ReadMask(path string) ([][]bool, error) {
	return read(path, mask)
}

// read opens a regular file of numbers and decodes it; errors name the file.
func read[T any](path string, decode func(*source) (T, error)) (T, error) {
	return readWith(path, open, decode)
}

func readWith[T any](path string, open func(io.Reader, int64) (*source, error), decode func(*source) (T, error)) (T, error) {
	var none T
	f, err := files.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return none, err
	}
	s, err := open(f, info.Size())
	if err == nil {
		none, err = decode(s)
	}
	if err != nil {
		var zero T
		return zero, fmt.Errorf("%s: %w", path, err)
	}
	return none, nil
}

func matrix[T array.Float](s *source) (array.Matrix[T], error) {
	if len(s.shape) != 2 {
		return array.Matrix[T]{}, s.notMatrix()
	}
	return flattenRecords[T](s)
}

func (s *source) notMatrix() error {
	return fmt.Errorf("%w: expected 2 dimensions (rows, columns), found shape %s", ErrShape, s.shapeText())
}

// checkVector returns an error unless the shape is (n,) or (n, 1).
func (s *source) checkVector() error {
	if len(s.shape) != 1 && (len(s.shape) != 2 || s.shape[1] != 1) {
		return fmt.Errorf("%w: expected (n,) or (n, 1), found %s", ErrShape, s.shapeText())
	}
	return nil
}

func vector(s *source) ([]float64, error) {
	if err := s.checkVector(); err != nil {
		return nil, err
	}
	out := make([]float64, s.shape[0])
	return out, fill(s, out)
}

func indices(s *source) ([]int, error) {
	switch s.kind {
	case 'b':
		return nil, fmt.Errorf("%w: expected row numbers, found a mask of bools; save numpy.flatnonzero(mask)", ErrType)
	case 'f':
		return nil, fmt.Errorf("%w: expected integers, found %q; save x.astype(numpy.int64)", ErrType, s.descr)
	}
	return naturals(s, "a row number")
}

func classes(s *source) ([]int, error) {
	switch s.kind {
	case 'b':
		s.kind = 'u' // a bool is a byte that is 0 or 1
	case 'f':
		return classesFromFloats(s)
	}
	return naturals(s, "a class")
}

// naturals reads integers >= 0; what is their name in errors.
func naturals(s *source, what string) ([]int, error) {
	if err := s.checkVector(); err != nil {
		return nil, err
	}
	out := make([]int, s.shape[0])
	err := s.chunks(len(out), func(first int, b []byte) error {
		for i := range len(b) / s.size {
			v := s.integer(b[i*s.size:])
			n, ok := v.natural()
			if !ok {
				return fmt.Errorf("%w: element %d is %v, expected %s >= 0", ErrValue, first+i, v, what)
			}
			out[first+i] = n
		}
		return nil
	})
	return out, err
}

// classesFromFloats reads classes that were saved as floats.
func classesFromFloats(s *source) ([]int, error) {
	values, err := vector(s)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(values))
	for i, v := range values {
		if v != math.Trunc(v) || v < 0 || v > 1<<53 { // NaN is not equal to itself
			return nil, fmt.Errorf("%w: element %d is %v, expected a class, a whole number >= 0", ErrValue, i, v)
		}
		out[i] = int(v)
	}
	return out, nil
}

func mask(s *source) ([][]bool, error) {
	rows, cols := 1, 0
	switch len(s.shape) {
	case 1:
		cols = s.shape[0]
	case 2:
		rows, cols = s.shape[0], s.shape[1]
	default:
		return nil, fmt.Errorf("%w: expected (n,) or (m, n), found %s", ErrShape, s.shapeText())
	}
	if s.kind == 'f' {
		return nil, fmt.Errorf("%w: expected bools or integers, found %q; save x.astype(bool)", ErrType, s.descr)
	}
	if cols == 0 { // any number of empty rows would fit the file
		return nil, fmt.Errorf("%w: an empty mask, %s", ErrShape, s.shapeText())
	}
	s.kind = 'u' // a bool is a byte that is 0 or 1
	values := make([]float32, rows*cols)
	if err := fill(s, values); err != nil {
		return nil, err
	}
	out := make([][]bool, rows)
	for i := range out {
		out[i] = make([]bool, cols)
		for j := range out[i] {
			v := values[i*cols+j]
			if v != 0 && v != 1 {
				return nil, fmt.Errorf("%w: row %d, column %d is %v, expected 0 or 1", ErrValue, i, j, v)
			}
			out[i][j] = v == 1
		}
	}
	return out, nil
}

// Info is the content of the header of a file.
type Info struct {
	Type  string // NumPy's: "<f4", "|b1"
	Shape []int
	kind  byte
}

// ReadInfo reads the header only and checks it against the file's length.
func ReadInfo(path string) (Info, error) {
	return read(path, func(s *source) (Info, error) { return Info{s.descr, s.shape, s.kind}, nil })
}

// ReadLabelInfo is ReadInfo for arrays that may hold text; see ReadLabels.
func ReadLabelInfo(path string) (Info, error) {
	return readWith(path, openAny, func(s *source) (Info, error) { return Info{s.descr, s.shape, s.kind}, nil })
}

// Kind returns NumPy's letter for the kind of elements: f for floats (also bfloat16), i and
// u for integers, b for bools, U and S for text.
func (i Info) Kind() byte { return i.kind }

// String prints type and shape: "<f4 (100, 10)".
func (i Info) String() string { return i.Type + " " + header{shape: i.Shape}.shapeText() }
