// Package npy reads and writes NumPy's .npy files, so that embeddings and
// scores from any framework can be judged here.
//
// Versions 1 to 3 of the format are read, in either byte order, C and Fortran
// layout, with elements of float32, float64, int32, int64, uint8 or bool. An
// array of Python objects is refused by name: it is a pickle, which runs code
// when it is loaded. The header is parsed, never evaluated, and nothing is
// allocated before the shape is known to fit the file.
//
// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
package npy

import (
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/lethe-ml/lethe/lib/array"
)

// Errors that a caller may want to tell apart; the text around them names the
// file, what was expected and what was found.
var (
	// ErrFormat: the file is no .npy file, or a damaged one.
	ErrFormat = errors.New("not a valid .npy file")
	// ErrObject: the file holds pickled Python objects.
	ErrObject = errors.New("arrays of Python objects are never read: they can run code")
	// ErrType: the elements have another type than the reader takes.
	ErrType = errors.New("unsupported element type")
	// ErrShape: the array has another number of dimensions than the reader takes.
	ErrShape = errors.New("unexpected shape")
	// ErrValue: an element cannot be represented, or is no row number.
	ErrValue = errors.New("unexpected value")
)

// ReadMatrix reads an array of shape (rows, columns). Integers become floats;
// one that a float64 cannot hold exactly is an error. NaN and infinities pass:
// Matrix.Check finds them.
func ReadMatrix(path string) (array.Matrix[float64], error) {
	return read(path, decodeMatrix)
}

// ReadVector reads an array of shape (n,) or (n, 1), with the conversions of
// ReadMatrix.
func ReadVector(path string) ([]float64, error) {
	return read(path, decodeVector)
}

// ReadIndices reads row numbers: an array of shape (n,) of integers >= 0. A
// mask of bools is refused, because it is easily mistaken for the numbers 0
// and 1.
func ReadIndices(path string) ([]int, error) {
	return read(path, decodeIndices)
}

// read reads a regular file and decodes it; errors name the file.
func read[T any](path string, decode func([]byte) (T, error)) (T, error) {
	var none T
	info, err := os.Stat(path)
	if err != nil {
		return none, err
	}
	if !info.Mode().IsRegular() {
		return none, fmt.Errorf("%s: expected a regular file, found %s", path, info.Mode().Type())
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return none, err
	}
	out, err := decode(b)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

func decodeMatrix(b []byte) (array.Matrix[float64], error) {
	h, data, err := split(b)
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	if len(h.shape) != 2 {
		return array.Matrix[float64]{}, fmt.Errorf("%w: expected 2 dimensions (rows, columns), found shape %s", ErrShape, h.shapeText())
	}
	values, err := h.floats(data)
	if err != nil {
		return array.Matrix[float64]{}, err
	}
	if h.fortran {
		// The bytes are the transpose in C order.
		return array.Matrix[float64]{Rows: h.shape[1], Cols: h.shape[0], Data: values}.Transpose(), nil
	}
	return array.Matrix[float64]{Rows: h.shape[0], Cols: h.shape[1], Data: values}, nil
}

func decodeVector(b []byte) ([]float64, error) {
	h, data, err := split(b)
	if err != nil {
		return nil, err
	}
	if len(h.shape) != 1 && (len(h.shape) != 2 || h.shape[1] != 1) {
		return nil, fmt.Errorf("%w: expected (n,) or (n, 1), found %s", ErrShape, h.shapeText())
	}
	return h.floats(data)
}

func decodeIndices(b []byte) ([]int, error) {
	h, data, err := split(b)
	if err != nil {
		return nil, err
	}
	switch {
	case h.kind == 'b':
		return nil, fmt.Errorf("%w: expected row numbers, found a mask of bools; save numpy.flatnonzero(mask)", ErrType)
	case h.kind == 'f':
		return nil, fmt.Errorf("%w: expected integers, found %q; save rows.astype(numpy.int64)", ErrType, h.descr)
	case len(h.shape) != 1:
		return nil, fmt.Errorf("%w: expected (n,), found %s", ErrShape, h.shapeText())
	}
	out := make([]int, h.shape[0])
	for i := range out {
		v := h.integer(data[i*h.size:])
		if v < 0 || v > math.MaxInt {
			return nil, fmt.Errorf("%w: element %d is %d, expected a row number >= 0", ErrValue, i, v)
		}
		out[i] = int(v)
	}
	return out, nil
}
